import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { TenantPool } from '../../platform/database/tenant-pool.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import { tenantOfToken } from './refresh-tokens.ts';

export type TokenPurpose =
  | 'mfa'
  | 'temp'
  | 'reauth'
  | 'org-mfa'
  | 'org-temp'
  | 'org-reauth'
  | 'org-handoff'
  | 'sso-state'
  | 'sso-handoff'
  | 'saml-request'
  | 'saml-session'
  | 'oidc-session'
  | 'oidc-logout';

export interface OneTimeToken {
  readonly tenantId: TenantId;
  readonly subjectId: string;
  readonly payload: Record<string, unknown>;
}

/** One use of a token, to give it back. */
export interface TokenUse {
  readonly useId: string;
}

export interface SpentToken extends OneTimeToken, TokenUse {
  /** By the database's clock, in epoch seconds: the first time, also of a token that was given back since. */
  readonly spentAt: number;
}

/** Member of the payload of a token that was given back: when it was first spent. */
const FIRST_SPENT = 'firstSpentAt';

/** Member of the payload: the uses that were not given back. Each can be given back once, however often that is said. */
const USES = 'uses';
/** Member of the payload of a finished token: the use that finished it. */
const FINISHED_BY = 'finishedBy';

/** Longer than a code or an authorization counts, and any outage that a person waits for. */
const GIVE_BACK_MS = 120_000;

/**
 * Member of the payload of a token that something else has ended, such as a logout: true if the token could be used until
 * then. It cannot be spent or discarded any more.
 */
export const ENDED = 'ended';

/**
 * Short-lived tokens with a purpose: opaque, hashed at rest, and spent by one atomic statement. Of any number of
 * simultaneous uses exactly one succeeds.
 */
export class OneTimeTokens {
  readonly #pool: TenantPool;

  constructor(pool: TenantPool) {
    this.#pool = pool;
  }

  async issue(
    purpose: TokenPurpose,
    { tenantId, subjectId, payload }: OneTimeToken,
    seconds: number,
    tries = 1,
  ): Promise<string> {
    const token = `${Buffer.from(tenantId.replaceAll('-', ''), 'hex').toString('base64url')}.${randomBytes(32).toString('base64url')}`;
    await this.#pool.statement(
      tenantId,
      `insert into one_time_tokens (tenant_id, purpose, digest, subject_id, payload, tries_left, expires_at)
       values ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7))`,
      [purpose, digestOf(token), subjectId, JSON.stringify(payload), tries, seconds],
    );
    return token;
  }

  /**
   * Uses one attempt. Returns undefined for unknown, expired and used-up tokens, and for those of another purpose. If it throws,
   * the token was not used, or its use is taken back as soon as the database is there.
   */
  async spend(purpose: TokenPurpose, token: string): Promise<SpentToken | undefined> {
    await this.#pool.restitution.first(tokenDigest(token));
    const useId = randomUUID();
    try {
      const found = await this.#row(
        token,
        `update one_time_tokens
            set tries_left = tries_left - 1,
                payload = payload || jsonb_build_object('${USES}', coalesce(payload->'${USES}', '[]') || to_jsonb($4::text))
          where tenant_id = $1 and purpose = $2 and digest = $3 and tries_left > 0 and expires_at > now()
         returning subject_id, payload,
                   coalesce((payload->>'${FIRST_SPENT}')::float8, extract(epoch from clock_timestamp())::float8) as at`,
        purpose,
        useId,
      );
      return found && { ...found.token, useId, spentAt: found.at };
    } catch (error) {
      void this.giveBack(purpose, token, { useId });
      throw error;
    }
  }

  /**
   * Ends a token whose purpose this use has fulfilled, whatever attempts it has left. Of any number of uses one succeeds; the
   * others get undefined, as after something else has ended it. `giveBack` of this use undoes it, unlike `discard`.
   */
  async finish(purpose: TokenPurpose, token: string, { useId }: TokenUse): Promise<OneTimeToken | undefined> {
    return this.#find(
      token,
      `update one_time_tokens
          set tries_left = 0, payload = payload || jsonb_build_object('${FINISHED_BY}', $4::text)
        where tenant_id = $1 and purpose = $2 and digest = $3 and payload->'${USES}' ? $4::text
          and not payload ? '${ENDED}' and not payload ? '${FINISHED_BY}'
       returning subject_id, payload`,
      purpose,
      useId,
    );
  }

  /** Reads a token without spending it: for tokens that stay valid for their whole lifetime. */
  async peek(purpose: TokenPurpose, token: string): Promise<OneTimeToken | undefined> {
    return this.#find(
      token,
      `select subject_id, payload from one_time_tokens
        where tenant_id = $1 and purpose = $2 and digest = $3 and tries_left > 0 and expires_at > now()`,
      purpose,
    );
  }

  /** Reads a token that has no attempt left and has not expired: only its holder learns that it was good once. */
  async spent(purpose: TokenPurpose, token: string): Promise<OneTimeToken | undefined> {
    return this.#find(
      token,
      `select subject_id, payload from one_time_tokens
        where tenant_id = $1 and purpose = $2 and digest = $3 and tries_left <= 0 and expires_at > now()`,
      purpose,
    );
  }

  /**
   * Gives back the attempt of a request that could not use it, as soon as the database is there. `spentAt`: when it was first
   * spent, if that counts later.
   */
  async giveBack(
    purpose: TokenPurpose,
    token: string,
    { useId, spentAt = null }: TokenUse & { readonly spentAt?: number | null },
  ): Promise<void> {
    await this.#pool.restitution.whenBack(tokenDigest(token), GIVE_BACK_MS, () =>
      this.#row(
        token,
        // Waits for the lock of a use that the server still executes.
        `with known as (select digest, payload from one_time_tokens where tenant_id = $1 and purpose = $2 and digest = $3 for update)
         update one_time_tokens t
            set tries_left = tries_left + 1,
                payload = t.payload - '${FINISHED_BY}'
                          || jsonb_strip_nulls(jsonb_build_object('${FIRST_SPENT}', $5::float8))
                          || jsonb_build_object('${USES}', (t.payload->'${USES}') - $4::text)
           from known
          where t.tenant_id = $1 and t.purpose = $2 and t.digest = known.digest
            and known.payload->'${USES}' ? $4::text and not known.payload ? '${ENDED}'
            and coalesce(known.payload->>'${FINISHED_BY}', $4::text) = $4::text
         returning t.subject_id, t.payload`,
        purpose,
        useId,
        spentAt,
      ),
    );
  }

  /** Ends a token early, once its purpose is fulfilled. Returns undefined if something else ended it first. */
  async discard(purpose: TokenPurpose, token: string): Promise<OneTimeToken | undefined> {
    return this.#find(
      token,
      `delete from one_time_tokens
        where tenant_id = $1 and purpose = $2 and digest = $3 and not payload ? '${ENDED}'
       returning subject_id, payload`,
      purpose,
    );
  }

  /** Deletes `ENDED` tokens by their digests. */
  async deleteEnded(tenantId: TenantId, purposes: readonly TokenPurpose[], digests: readonly string[]): Promise<void> {
    await this.#pool.statement(
      tenantId,
      `delete from one_time_tokens
        where tenant_id = $1 and purpose = any($2::text[]) and payload ? '${ENDED}'
          and digest in (select decode(hex, 'hex') from unnest($3::text[]) as hex)`,
      [purposes, digests],
    );
  }

  async #find(
    token: string,
    sql: string,
    purpose: TokenPurpose,
    ...more: readonly unknown[]
  ): Promise<OneTimeToken | undefined> {
    return (await this.#row(token, sql, purpose, ...more))?.token;
  }

  /** `at`: the member `at` of the row, if the statement returns one. */
  async #row(
    token: string,
    sql: string,
    purpose: TokenPurpose,
    ...more: readonly unknown[]
  ): Promise<{ readonly token: OneTimeToken; readonly at: number } | undefined> {
    const tenantId = tenantOfToken(token);
    if (!tenantId) return undefined;
    const { rows } = await this.#pool.inTime<{
      subject_id: string;
      payload: Record<string, unknown>;
      at?: number;
    }>(tenantId, sql, [purpose, digestOf(token), ...more]);
    const [row] = rows;
    return row && { token: { tenantId, subjectId: row.subject_id, payload: row.payload }, at: row.at ?? 0 };
  }
}

/** As it is stored, in hexadecimal digits. */
export const tokenDigest = (token: string): string => digestOf(token).toString('hex');

const digestOf = (token: string) => createHash('sha256').update(token).digest();
