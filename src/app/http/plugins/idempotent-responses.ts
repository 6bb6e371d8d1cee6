import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TenantPool } from '../../../platform/database/tenant-pool.ts';
import {
  conflict,
  FailureError,
  forbidden,
  limited,
  reauthenticationRequired,
} from '../../../platform/kernel/failure.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import { IdempotencySealing, type IdempotencyKeys } from './idempotency-sealing.ts';
import { IdempotencyUsage } from './idempotency-usage.ts';
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

/** An attempt whose process died counts as running for this long after its last sign of life. */
const RUNNING_SECONDS = 3;
const SIGN_OF_LIFE_MS = 1_000;
/** Longer than a dead attempt counts as running: a retry right after a crash gets a response, not a conflict. */
const WAIT_MS = 5_000;
const LOOK_AGAIN_MS = 100;
/** Retries that may wait for the first attempt, per process. Each is an open request. */
const MAX_WAITING = 64;
/** `lock_not_available`: another attempt of the same request held the row for as long as a statement waits. */
const ROW_IS_HELD = '55P03';

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

/**
 * `Idempotency-Key` (choice OP-014): for 24 hours the same key and request get the first response; another request
 * under the key is a conflict. The row is written before anything is done. An attempt that ended without a stored
 * response (a crash, an error after its append) is run again with the same seed: it finds its own events and builds the
 * same response from them.
 */
export class IdempotentResponses {
  readonly #pool: TenantPool;
  readonly #sealing: IdempotencySealing;
  readonly #usage: IdempotencyUsage;
  #waiting = 0;

  constructor(pool: TenantPool, keys: IdempotencyKeys) {
    this.#pool = pool;
    this.#sealing = new IdempotencySealing(keys);
    this.#usage = new IdempotencyUsage(pool);
  }

  /** The first response, or the request to be run, which must be `keep`-ed or `release`-d. Throws 403, 409 and 429. */
  async begin(asked: IdempotentRequest): Promise<StoredResponse | KeyedRequest> {
    const digest = this.#sealing.digest('key', asked, [asked.key]);
    const deadline = Date.now() + WAIT_MS;
    for (let look = 1; ; look += 1) {
      const outcome = await this.#tryToBegin(asked, digest).catch(runningIfHeld);
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
    const request = this.#sealing.digest('request', asked, asked.request);
    const mayBegin = await this.#usage.leavesRoomForKey(tenantId);
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
          this.#sealing.seal(seed, `${digest.toString('hex')}|seed`, asked),
          attempt,
          RUNNING_SECONDS,
          role,
          reauthenticated,
        ],
      );
      if (inserted === 1) {
        if (!mayBegin) throw new FailureError(limited(3_600));
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
        const body = this.#sealing.open(first.sealed_body, `${digest.toString('hex')}|body`, asked).toString();
        return { status: first.status, body, logPosition: first.log_position ?? undefined };
      }
      const { rowCount: taken } = await client.query(
        `update idempotent_answers set attempt = $4, running_until = now() + $5 * interval '1 second', role = $6, reauthenticated = reauthenticated or $7
          where tenant_id = $1 and subject_id = $2 and digest = $3 and running_until < now()`,
        [...identity, attempt, RUNNING_SECONDS, role, reauthenticated],
      );
      if (taken === 0) return 'running';
      const kept = this.#sealing.open(first.sealed_seed!, `${digest.toString('hex')}|seed`, asked);
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
    if (!(await this.#usage.leavesRoomFor(tenantId, body))) return this.#endAttempt(keyed);
    const sealed = this.#sealing.seal(Buffer.from(body), `${digest.toString('hex')}|body`, keyed);
    const sql = `update idempotent_answers set status = $5, sealed_body = $6, log_position = $7, running_until = '-infinity'
                  where tenant_id = $1 and subject_id = $2 and digest = $3 and attempt = $4`;
    await this.#pool.statement(tenantId, sql, [subjectId, digest, attempt, status, sealed, logPosition ?? null]);
  }

  /**
   * Ends an attempt without a response. If nothing can have been appended, the key is free again, also for another
   * body. Otherwise a retry resumes where this attempt stopped.
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
}

/** On a busy machine, another attempt may hold the row between two of its statements. */
function runningIfHeld(error: unknown): 'running' {
  if ((error as { code?: unknown } | undefined)?.code === ROW_IS_HELD) return 'running';
  throw error;
}

/** Repeats the two checks of commands. The route itself has checked session and permission. Throws 403. */
function refuseLesserStanding(
  first: Pick<Row, 'role' | 'reauthenticated'>,
  { role, reauthenticated }: CallerAuthority,
): void {
  if (first.role !== null && first.role !== role) throw new FailureError(forbidden('idempotent_role_changed'));
  if (reauthenticated === false && first.reauthenticated !== false) throw new FailureError(reauthenticationRequired());
}
