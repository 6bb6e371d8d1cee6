import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TenantPool } from '../../../platform/database/tenant-pool.ts';
import {
  conflict,
  FailureError,
  forbidden,
  invalid,
  limited,
  reauthenticationRequired,
} from '../../../platform/kernel/failure.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import { decrypt, encrypt } from '../../../platform/vault/keyring.ts';
import { KeyedRequest } from './keyed-request.ts';

export interface IdempotentRequest {
  readonly tenantId: TenantId;
  readonly subjectId: string;
  readonly key: string;
  /** Method, URL and body, which identify the request. */
  readonly request: readonly (string | Buffer)[];
  readonly standing: CallerAuthority;
}

/** What a command may have checked in the first attempt. A replay runs no command, so it is compared with this. */
export interface CallerAuthority {
  readonly role: string;
  /** Whether the caller has re-authenticated; undefined if the route never requires it. */
  readonly reauthenticated: boolean | undefined;
}

export interface StoredResponse {
  readonly status: number;
  readonly body: string;
  /** Position of the last event that the request appended. */
  readonly logPosition: string | undefined;
}

export interface IdempotencyKeys {
  /** Bodies and seeds are sealed with the first key, and opened with any. */
  readonly sealing: readonly [Buffer, ...Buffer[]];
  /** For digests of keys and requests. It survives a rotation of the master key, because digests are compared. */
  readonly digesting: Buffer;
}

/** An attempt whose process died counts as running for this long after its last sign of life. */
const RUNNING_SECONDS = 3;
const SIGN_OF_LIFE_MS = 1_000;
/** Longer than a dead attempt counts as running: a retry right after a crash gets a response, not a conflict. */
const WAIT_MS = 5_000;
const LOOK_AGAIN_MS = 100;
/** Retries that may wait for the first attempt, per process. Each is an open request. */
const MAX_WAITING = 64;

/** Per tenant. Larger responses are not stored but built again, from what the first attempt appended. */
const MAX_KEYS = 20_000;
const MAX_STORED_BYTES = 64 * 1024 * 1024;
const LARGEST_BODY = 512 * 1024;
/** Budgets are counted this often; between two counts a tenant may exceed them a little. */
const COUNTED_EVERY_MS = 5_000;

interface Row {
  readonly request_hash: Buffer;
  readonly status: number | null;
  readonly sealed_body: Buffer | null;
  readonly sealed_seed: Buffer | null;
  readonly log_position: string | null;
  readonly attempt: string;
  readonly role: string | null;
  readonly reauthenticated: boolean | null;
}

interface Usage {
  readonly countedAt: number;
  readonly keys: number;
  readonly bytes: number;
}

/**
 * `Idempotency-Key` (choice OP-014): for 24 hours the same key and request get the first response; another request under the key
 * is a conflict. The row is written before anything is done. An attempt that ended without a stored response (a crash, an error
 * after its append) is run again with the same seed: it finds its own events and builds the same response from them.
 */
export class IdempotentResponses {
  readonly #pool: TenantPool;
  readonly #keys: IdempotencyKeys;
  readonly #usage = new Map<TenantId, Usage>();
  #waiting = 0;

  constructor(pool: TenantPool, keys: IdempotencyKeys) {
    this.#pool = pool;
    this.#keys = keys;
  }

  /** The first response, or the request to be run, which must be `keep`-ed or `release`-d. Throws 403, 409 and 429. */
  async begin(asked: IdempotentRequest): Promise<StoredResponse | KeyedRequest> {
    if (!/^[\x21-\x7e]{1,200}$/.test(asked.key))
      throw new FailureError(invalid('Idempotency-Key', 'must be 1 to 200 printable characters'));
    const digest = this.#digest('key', asked, [asked.key]);
    const deadline = Date.now() + WAIT_MS;
    for (let look = 1; ; look += 1) {
      const outcome = await this.#tryToBegin(asked, digest);
      if (outcome !== 'running') return outcome;
      if (Date.now() > deadline || (look === 1 && this.#waiting >= MAX_WAITING)) {
        throw new FailureError(conflict('idempotent_request_running'));
      }
      this.#waiting += 1;
      await sleep(LOOK_AGAIN_MS).finally(() => (this.#waiting -= 1));
    }
  }

  async #tryToBegin(asked: IdempotentRequest, digest: Buffer): Promise<StoredResponse | KeyedRequest | 'running'> {
    const {
      tenantId,
      subjectId,
      standing: { role, reauthenticated = false },
    } = asked;
    const request = this.#digest('request', asked, asked.request);
    const usage = await this.#usageOf(tenantId);
    const attempt = randomUUID();
    const seed = randomBytes(32);
    return this.#pool.transaction(tenantId, async (client) => {
      const identity = [tenantId, subjectId, digest];
      const { rowCount: inserted } = await client.query(
        `insert into idempotent_answers (tenant_id, subject_id, digest, request_hash, sealed_seed, attempt, running_until, role, reauthenticated)
         values ($1, $2, $3, $4, $5, $6, now() + $7 * interval '1 second', $8, $9)
         on conflict (tenant_id, subject_id, digest) do update
            set request_hash = excluded.request_hash, sealed_seed = excluded.sealed_seed, attempt = excluded.attempt, running_until = excluded.running_until,
                role = excluded.role, reauthenticated = excluded.reauthenticated, status = null, sealed_body = null, log_position = null, created_at = now()
          where idempotent_answers.created_at < now() - interval '24 hours'`,
        [
          ...identity,
          request,
          this.#seal(seed, `${digest.toString('hex')}|seed`, asked),
          attempt,
          RUNNING_SECONDS,
          role,
          reauthenticated,
        ],
      );
      if (inserted === 1) {
        if (usage.keys >= MAX_KEYS) throw new FailureError(limited(3_600));
        return new KeyedRequest({ tenantId, subjectId, digest, attempt, seed, isRetry: false });
      }
      const { rows } = await client.query<Row>(
        `select request_hash, status, sealed_body, sealed_seed, log_position, attempt, role, reauthenticated from idempotent_answers
          where tenant_id = $1 and subject_id = $2 and digest = $3 for update`,
        identity,
      );
      const [first] = rows;
      // The first attempt was refused and deleted its row in between.
      if (!first) return 'running';
      if (!first.request_hash.equals(request)) throw new FailureError(conflict('idempotency_key_reused'));
      refuseLesserStanding(first, asked.standing);
      if (first.status !== null && first.sealed_body !== null) {
        const body = this.#opened(first.sealed_body, `${digest.toString('hex')}|body`, asked).toString();
        return { status: first.status, body, logPosition: first.log_position ?? undefined };
      }
      const { rowCount: taken } = await client.query(
        `update idempotent_answers set attempt = $4, running_until = now() + $5 * interval '1 second', role = $6, reauthenticated = reauthenticated or $7
          where tenant_id = $1 and subject_id = $2 and digest = $3 and running_until < now()`,
        [...identity, attempt, RUNNING_SECONDS, role, reauthenticated],
      );
      if (taken === 0) return 'running';
      const kept = this.#opened(first.sealed_seed!, `${digest.toString('hex')}|seed`, asked);
      return new KeyedRequest({ tenantId, subjectId, digest, attempt, seed: kept, isRetry: true });
    });
  }

  /** Renews the attempt's `running_until` periodically, until the returned function is called. */
  whileRunning({ tenantId, subjectId, digest, attempt }: KeyedRequest): () => void {
    const sql = `update idempotent_answers set running_until = now() + $5 * interval '1 second'
                  where tenant_id = $1 and subject_id = $2 and digest = $3 and attempt = $4 and status is null`;
    const renew = () =>
      void this.#pool.statement(tenantId, sql, [subjectId, digest, attempt, RUNNING_SECONDS]).catch(() => undefined);
    const timer = setInterval(renew, SIGN_OF_LIFE_MS).unref();
    return () => clearInterval(timer);
  }

  /** Stores the sealed response, unless it is too large. Then a retry builds it again. */
  async keep(keyed: KeyedRequest, { status, body, logPosition }: StoredResponse): Promise<void> {
    const { tenantId, subjectId, digest, attempt } = keyed;
    const usage = await this.#usageOf(tenantId);
    if (body.length > LARGEST_BODY || usage.bytes + body.length > MAX_STORED_BYTES) return this.#endAttempt(keyed);
    const sealed = this.#seal(Buffer.from(body), `${digest.toString('hex')}|body`, keyed);
    const sql = `update idempotent_answers set status = $5, sealed_body = $6, log_position = $7, running_until = '-infinity'
                  where tenant_id = $1 and subject_id = $2 and digest = $3 and attempt = $4`;
    await this.#pool.statement(tenantId, sql, [subjectId, digest, attempt, status, sealed, logPosition ?? null]);
  }

  /**
   * Ends an attempt without a response. If nothing can have been appended, the key is free again, also for another body.
   * Otherwise a retry resumes where this attempt stopped.
   */
  async release(keyed: KeyedRequest): Promise<void> {
    if (keyed.mayHaveAppended) return this.#endAttempt(keyed);
    const { tenantId, subjectId, digest, attempt } = keyed;
    const sql =
      'delete from idempotent_answers where tenant_id = $1 and subject_id = $2 and digest = $3 and attempt = $4 and status is null';
    await this.#pool.statement(tenantId, sql, [subjectId, digest, attempt]);
  }

  async #endAttempt({ tenantId, subjectId, digest, attempt }: KeyedRequest): Promise<void> {
    const sql = `update idempotent_answers set running_until = '-infinity' where tenant_id = $1 and subject_id = $2 and digest = $3 and attempt = $4`;
    await this.#pool.statement(tenantId, sql, [subjectId, digest, attempt]);
  }

  async #usageOf(tenantId: TenantId): Promise<Usage> {
    const known = this.#usage.get(tenantId);
    if (known && known.countedAt > Date.now() - COUNTED_EVERY_MS) return known;
    const sql =
      'select count(*)::int as keys, coalesce(sum(length(sealed_body)), 0)::float8 as bytes from idempotent_answers where tenant_id = $1';
    const { rows } = await this.#pool.statement<{ keys: number; bytes: number }>(tenantId, sql, []);
    const usage = { countedAt: Date.now(), ...rows[0]! };
    // Cleared all at once, because a map of every tenant that ever used a key would never shrink.
    if (this.#usage.size > 1_000) this.#usage.clear();
    this.#usage.set(tenantId, usage);
    return usage;
  }

  /** A keyed digest, because a body may hold a password: without the key, candidates cannot be tested against it. */
  #digest(purpose: string, { tenantId, subjectId }: IdempotentRequest, parts: readonly (string | Buffer)[]): Buffer {
    const hmac = createHmac('sha256', this.#keys.digesting).update(`${purpose}|${tenantId}|${subjectId}`);
    for (const part of parts) {
      const bytes = Buffer.from(part);
      hmac.update(`|${bytes.length}|`).update(bytes);
    }
    return hmac.digest();
  }

  #seal(
    plain: Buffer,
    place: string,
    { tenantId, subjectId }: Pick<IdempotentRequest, 'tenantId' | 'subjectId'>,
  ): Buffer {
    return encrypt(this.#keys.sealing[0], plain, `${tenantId}|${subjectId}|${place}`);
  }

  /** Throws 409 if the master key was retired since: the request is not run again, and its response cannot be opened. */
  #opened(
    sealed: Buffer,
    place: string,
    { tenantId, subjectId }: Pick<IdempotentRequest, 'tenantId' | 'subjectId'>,
  ): Buffer {
    for (const key of this.#keys.sealing) {
      try {
        return decrypt(key, sealed, `${tenantId}|${subjectId}|${place}`);
      } catch {
        // Sealed with another key: try the next one.
      }
    }
    throw new FailureError(conflict('idempotent_response_lost'));
  }
}

/** Repeats the two checks of commands. The route itself has checked session and permission. Throws 403. */
function refuseLesserStanding(
  first: Pick<Row, 'role' | 'reauthenticated'>,
  { role, reauthenticated }: CallerAuthority,
): void {
  if (first.role !== null && first.role !== role) throw new FailureError(forbidden('idempotent_role_changed'));
  if (reauthenticated === false && first.reauthenticated !== false) throw new FailureError(reauthenticationRequired());
}
