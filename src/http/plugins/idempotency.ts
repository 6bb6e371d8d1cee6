import { createHash } from 'node:crypto';
import type { TenantPool } from '../../database/tenant-pool.ts';
import { conflict, FailureError, invalid } from '../../kernel/failure.ts';
import type { TenantId } from '../../kernel/ids.ts';
import { open, seal } from '../../vault/keyring.ts';

export interface Asked {
  readonly tenantId: TenantId;
  readonly subjectId: string;
  readonly key: string;
  readonly request: string;
}

export interface Answered {
  readonly status: number;
  readonly body: string;
}

/** An answer in the making is waited for no longer than this; then its maker is taken for dead. */
const ABANDONED_SECONDS = 60;

/**
 * `Idempotency-Key` (choice OP-014): for 24 hours the same key and request replay the first answer, which is kept sealed;
 * another request under the key is a conflict, and so is one while the first is still being answered.
 */
export class IdempotentAnswers {
  readonly #pool: TenantPool;
  readonly #keys: readonly [Buffer, ...Buffer[]];

  /** Answers are sealed with the first of the keys, and opened with any. */
  constructor(pool: TenantPool, keys: readonly [Buffer, ...Buffer[]]) {
    this.#pool = pool;
    this.#keys = keys;
  }

  /** The first answer, or undefined when the caller is the first and must `keep` or `release`. Throws 409. */
  async begin(asked: Asked): Promise<Answered | undefined> {
    if (!/^[\x21-\x7e]{1,200}$/.test(asked.key)) throw new FailureError(invalid('Idempotency-Key', 'must be 1 to 200 printable characters'));
    const hash = sha256(asked.request);
    return this.#pool.transaction(asked.tenantId, async (client) => {
      const identity = [asked.tenantId, asked.subjectId, sha256(asked.key)];
      const { rowCount } = await client.query(
        `insert into idempotent_answers (tenant_id, subject_id, digest, request_hash) values ($1, $2, $3, $4)
         on conflict (tenant_id, subject_id, digest) do update set request_hash = excluded.request_hash, status = null, sealed_body = null, created_at = now()
          where idempotent_answers.created_at < now() - interval '24 hours'
             or (idempotent_answers.status is null and idempotent_answers.created_at < now() - interval '${ABANDONED_SECONDS} seconds')`,
        [...identity, hash],
      );
      if (rowCount === 1) return undefined;
      const { rows } = await client.query<{ request_hash: Buffer; status: number | null; sealed_body: Buffer | null }>(
        'select request_hash, status, sealed_body from idempotent_answers where tenant_id = $1 and subject_id = $2 and digest = $3',
        identity,
      );
      const [first] = rows;
      if (!first?.request_hash.equals(hash)) throw new FailureError(conflict('the idempotency key belongs to another request'));
      if (first.status === null) throw new FailureError(conflict('the first request with this idempotency key is still being answered'));
      return { status: first.status, body: this.#opened(first.sealed_body!, asked.subjectId) };
    });
  }

  /** Sealed with a key that was retired since: what was done is not done again, and what was said is not known any more. */
  #opened(sealed: Buffer, subjectId: string): string {
    for (const key of this.#keys) {
      try {
        return open(key, sealed, subjectId).toString();
      } catch {
        // the next one, then
      }
    }
    throw new FailureError(conflict('the first request with this idempotency key was answered, and its answer cannot be shown any more'));
  }

  async keep(asked: Asked, { status, body }: Answered): Promise<void> {
    const sql = 'update idempotent_answers set status = $4, sealed_body = $5 where tenant_id = $1 and subject_id = $2 and digest = $3';
    const sealed = seal(this.#keys[0], Buffer.from(body), asked.subjectId);
    await this.#pool.statement(asked.tenantId, sql, [asked.subjectId, sha256(asked.key), status, sealed]);
  }

  /** The request failed for our own reasons: the next one with this key is the first again. */
  async release(asked: Asked): Promise<void> {
    const sql = 'delete from idempotent_answers where tenant_id = $1 and subject_id = $2 and digest = $3 and status is null';
    await this.#pool.statement(asked.tenantId, sql, [asked.subjectId, sha256(asked.key)]);
  }
}

const sha256 = (text: string) => createHash('sha256').update(text).digest();
