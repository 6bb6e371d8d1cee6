import { createHash, createHmac, randomBytes } from 'node:crypto';
import { Batcher } from '../../platform/database/batcher.ts';
import type { TenantPool } from '../../platform/database/tenant-pool.ts';
import { asTenantId, isUuid, type TenantId } from '../../platform/kernel/ids.ts';

interface Family {
  readonly tenantId: TenantId;
  readonly sessionId: string;
  readonly subjectId: string;
}
export type RedeemedRefreshToken =
  /** Epoch milliseconds at which the session ends, however often it is refreshed. */
  | ({ readonly kind: 'rotated'; readonly next: string; readonly endsAt: number } & Family)
  /** The token was already spent, so someone else has a copy. The whole family must be revoked. */
  | ({ readonly kind: 'reused' } & Family)
  | { readonly kind: 'unknown' };

/** A client that lost the response may retry within this time without being treated as a thief (OP-023). */
const GRACE_SECONDS = 10;
/** Any outage that a person waits for. */
const KEEP_GRACE_MS = 120_000;

export interface RefreshLifetime {
  readonly idleSeconds: number;
  readonly absoluteSeconds: number;
}
export const ADMIN_LIFETIME: RefreshLifetime = { idleSeconds: 7 * 86_400, absoluteSeconds: 30 * 86_400 };
export const ORG_LIFETIME: RefreshLifetime = { idleSeconds: 8 * 3_600, absoluteSeconds: 8 * 3_600 };

/**
 * Opaque refresh tokens, stored as digests and spent by one atomic statement. The token contains the tenant's id, so
 * that the look-up runs under that tenant's row-level security; a forged tenant finds nothing.
 */
export class RefreshTokens {
  readonly #pool: TenantPool;
  readonly #successorKey: Buffer;
  readonly #issued = new Batcher((tenantId: TenantId, tokens: readonly KeptToken[]) => this.#keep(tenantId, tokens));

  constructor(pool: TenantPool, successorKey: Buffer) {
    this.#pool = pool;
    this.#successorKey = successorKey;
  }

  /** `until`: epoch milliseconds at which the session ends, if it is before its lifetime. */
  async issue(
    { tenantId, sessionId, subjectId }: Family,
    lifetime: RefreshLifetime,
    until = Number.POSITIVE_INFINITY,
  ): Promise<string> {
    const endsAt = new Date(Math.min(Date.now() + lifetime.absoluteSeconds * 1000, until));
    const { idleSeconds } = lifetime;
    const { token, kept } = tokenOf(randomBytes(32), tenantId, sessionId, subjectId, { idleSeconds, endsAt });
    await this.#issued.load(tenantId, kept);
    return token;
  }

  async redeem(token: string): Promise<RedeemedRefreshToken> {
    const tenantId = tenantOfToken(token);
    if (!tenantId) return { kind: 'unknown' };
    await this.#pool.restitution.first(digestOf(token).toString('hex'));
    return this.#pool.transaction(tenantId, async (client) => {
      const digest = digestOf(token);
      const { rows } = await client.query<SpentRow>(SPEND, [tenantId, digest]);
      const [row] = rows;
      if (!row) return { kind: 'unknown' };
      const { session_id: sessionId, subject_id: subjectId } = row;
      if (!row.fresh && !row.within_grace) return { kind: 'reused', sessionId, subjectId, tenantId };
      // The next token keeps the lifetime of the family: its idle time, and its absolute end.
      const lifetime = { idleSeconds: row.idle_seconds, endsAt: new Date(row.ends_at) };
      const { token: next, kept } = tokenOf(this.#successorOf(token), tenantId, sessionId, subjectId, lifetime);
      await client.query(INSERT, [tenantId, ...columnsOf([kept])]);
      return { kind: 'rotated', sessionId, subjectId, next, endsAt: lifetime.endsAt.getTime(), tenantId };
    });
  }

  /**
   * The redemption that began at `since` (of `performance.now()`) ended with an outage's 503, so nobody has heard of the
   * successor. The grace that the token had then does not end before the successor is used (decision 0208). Does nothing to
   * a token that was spent earlier.
   */
  async keepGrace(token: string, since: number): Promise<void> {
    const tenantId = tenantOfToken(token);
    if (!tenantId) return;
    await this.#pool.restitution.whenBack(digestOf(token).toString('hex'), KEEP_GRACE_MS, () =>
      this.#pool.inTime(tenantId, KEEP_GRACE, [digestOf(token), (performance.now() - since) / 1000]),
    );
  }

  /**
   * A token has exactly one successor, computed from the token and a key of this service.
   *
   * So two tabs, or a client that lost the response, get the same successor within the grace period. A spent token
   * cannot be multiplied.
   */
  #successorOf(token: string): Buffer {
    return createHmac('sha256', this.#successorKey).update(token).digest();
  }

  /** When each session of a subject ends unless it is refreshed first; without sessions that have already expired. */
  async expiries(tenantId: TenantId, subjectId: string): Promise<ReadonlyMap<string, string>> {
    const { rows } = await this.#pool.statement<{ session_id: string; expires_at: Date | string }>(tenantId, EXPIRIES, [
      subjectId,
    ]);
    return new Map(
      rows.map(({ session_id: sessionId, expires_at: expiresAt }) => [sessionId, new Date(expiresAt).toISOString()]),
    );
  }

  async revokeSession(tenantId: TenantId, sessionId: string): Promise<void> {
    await this.#pool.statement(tenantId, 'delete from refresh_tokens where tenant_id = $1 and session_id = $2', [
      sessionId,
    ]);
  }

  async #keep(tenantId: TenantId, tokens: readonly KeptToken[]): Promise<readonly void[]> {
    await this.#pool.statement(tenantId, INSERT, columnsOf(tokens), 'insert-refresh-tokens');
    return [];
  }
}

/** The stored form of a token. */
interface KeptToken {
  readonly digest: Buffer;
  readonly sessionId: string;
  readonly subjectId: string;
  readonly expiresAt: Date;
  readonly idleSeconds: number;
  readonly endsAt: Date;
}

interface SpentRow {
  session_id: string;
  subject_id: string;
  fresh: boolean;
  within_grace: boolean;
  idle_seconds: number;
  ends_at: string;
}

/**
 * The row lock serializes concurrent requests with the same token: the first finds it fresh, the others find it just
 * spent.
 */
const SPEND = `
  with known as (
    select digest, session_id, subject_id, spent_at, response_lost, idle_seconds, ends_at from refresh_tokens
     where tenant_id = $1 and digest = $2 and expires_at > now() for update
  ), placed as (
    select k.*, not exists (select from refresh_tokens c where c.tenant_id = $1 and c.session_id = k.session_id
                             and c.spent_at is not null and c.spent_at > k.spent_at) as is_newest from known k
  ), spent as (
    update refresh_tokens r set spent_at = now(), response_lost = false from placed p
     where r.tenant_id = $1 and r.digest = p.digest and (p.spent_at is null or (p.response_lost and p.is_newest))
  )
  select session_id, subject_id, spent_at is null as fresh,
         -- Only the direct parent of the newest token has this grace.
         is_newest and (response_lost or coalesce(spent_at > now() - interval '${GRACE_SECONDS} seconds', false)) as within_grace,
         idle_seconds, ends_at
    from placed`;

/**
 * Waits for the lock of a redemption that the server still executes. Counts back from when the redemption began, by the
 * database's clock alone.
 */
const KEEP_GRACE = `
  with known as (select digest, spent_at from refresh_tokens where tenant_id = $1 and digest = $2 for update)
  update refresh_tokens r set response_lost = true from known
   where r.tenant_id = $1 and r.digest = known.digest
     and known.spent_at > clock_timestamp() - make_interval(secs => ${GRACE_SECONDS} + $3::float8)`;

const EXPIRIES = `
  select session_id, max(expires_at) as expires_at from refresh_tokens
   where tenant_id = $1 and subject_id = $2 and expires_at > now() and spent_at is null group by session_id`;

const INSERT = `
  insert into refresh_tokens (tenant_id, digest, session_id, subject_id, expires_at, idle_seconds, ends_at)
  select $1, * from unnest($2::bytea[], $3::uuid[], $4::uuid[], $5::timestamptz[], $6::int[], $7::timestamptz[])
  on conflict (tenant_id, digest) do nothing`;

const columnsOf = (tokens: readonly KeptToken[]) => [
  tokens.map(({ digest }) => digest),
  tokens.map(({ sessionId }) => sessionId),
  tokens.map(({ subjectId }) => subjectId),
  tokens.map(({ expiresAt }) => expiresAt),
  tokens.map(({ idleSeconds }) => idleSeconds),
  tokens.map(({ endsAt }) => endsAt),
];

function tokenOf(
  secret: Buffer,
  tenantId: TenantId,
  sessionId: string,
  subjectId: string,
  { idleSeconds, endsAt }: { idleSeconds: number; endsAt: Date },
): { token: string; kept: KeptToken } {
  const token = `${Buffer.from(tenantId.replaceAll('-', ''), 'hex').toString('base64url')}.${secret.toString('base64url')}`;
  const expiresAt = new Date(Math.min(Date.now() + idleSeconds * 1000, endsAt.getTime()));
  return { token, kept: { digest: digestOf(token), sessionId, subjectId, expiresAt, idleSeconds, endsAt } };
}

/** 256 random bits need no slow hash. */
const digestOf = (token: string) => createHash('sha256').update(token).digest();

export function tenantOfToken(token: string): TenantId | undefined {
  const [head, secret, ...rest] = token.split('.');
  if (!head || !secret || rest.length > 0 || token.length > 200) return undefined;
  const hex = Buffer.from(head, 'base64url').toString('hex');
  const id = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  return isUuid(id) ? asTenantId(id) : undefined;
}
