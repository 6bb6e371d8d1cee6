import { createHash, randomBytes } from 'node:crypto';
import { Batcher } from '../../platform/database/batcher.ts';
import type { TenantPool } from '../../platform/database/tenant-pool.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import { tenantOfToken } from '../identity/refresh-tokens.ts';
import type { ScimScope } from './domain/client-events.ts';

/** F256. */
export const TOKEN_SECONDS = 3_600;

/** Of one client. A provider that gets a token for each request must not fill the table; the oldest end first. */
const MOST_TOKENS = 100;

export interface ScimToken {
  readonly tenantId: TenantId;
  readonly clientId: string;
  /** The secret with which the token was got: the token ends with it. */
  readonly secretId: string;
  readonly scopes: readonly ScimScope[];
  /** Epoch seconds. */
  readonly expiresAt: number;
}

export interface IssuedScimToken {
  readonly token: string;
  /** In seconds (RFC 6749 §5.1). */
  readonly expiresIn: number;
}

const secondsUntil = (endsAt: number | undefined): number =>
  endsAt === undefined
    ? TOKEN_SECONDS
    : Math.min(TOKEN_SECONDS, Math.max(1, Math.floor((endsAt - Date.now()) / 1_000)));

interface TokenRow {
  /** In hexadecimal digits. */
  readonly digest: string;
  readonly client_id: string;
  readonly secret_id: string;
  readonly scope: string;
  readonly expires_at: number;
  readonly is_use_known: boolean;
}

/**
 * Opaque access tokens of SCIM clients, stored as digests. Each request looks its token up, so a token that was revoked
 * on one node is dead on all of them at once; if the database does not respond, none is accepted.
 */
export class ScimTokens {
  readonly #pool: TenantPool;
  /** Requests of one tick share a statement. It begins after all of them arrived, so it sees what ended before. */
  readonly #rows = new Batcher((tenantId: TenantId, digests: readonly Buffer[]) => this.#find(tenantId, digests));
  /** By client. */
  readonly #noting = new Map<string, Promise<unknown>>();

  constructor(pool: TenantPool) {
    this.#pool = pool;
  }

  /** `endsAt`, in epoch milliseconds: when the secret ends, and with it the token. */
  async issue({
    tenantId,
    clientId,
    secretId,
    scopes,
    endsAt,
  }: Omit<ScimToken, 'expiresAt'> & { readonly endsAt?: number | undefined }): Promise<IssuedScimToken> {
    const expiresIn = secondsUntil(endsAt);
    const tenant = Buffer.from(tenantId.replaceAll('-', ''), 'hex').toString('base64url');
    const token = `${tenant}.${randomBytes(32).toString('base64url')}`;
    await this.#pool.transaction(tenantId, async (client) => {
      await client.query(INSERT, [tenantId, digestOf(token), clientId, secretId, scopes.join(' '), expiresIn]);
      await client.query(END_OLDEST, [tenantId, clientId, MOST_TOKENS]);
      await client.query(NOTE_USE, [tenantId, clientId]);
    });
    return { token, expiresIn };
  }

  /** Undefined for a token that is unknown, revoked or expired. Whether its client still exists is not known here. */
  async find(token: string): Promise<ScimToken | undefined> {
    const tenantId = tenantOfToken(token);
    const row = tenantId && (await this.#rows.load(tenantId, digestOf(token)));
    if (!row) return undefined;
    if (!row.is_use_known) await this.noteUse(tenantId, row.client_id);
    return {
      tenantId,
      clientId: row.client_id,
      secretId: row.secret_id,
      scopes: row.scope.split(' ') as ScimScope[],
      expiresAt: Number(row.expires_at),
    };
  }

  /** Of many requests at once one writes: they would wait for each other's lock on the one row, and for connections. */
  noteUse(tenantId: TenantId, clientId: string): Promise<unknown> {
    const underWay = this.#noting.get(clientId);
    if (underWay) return underWay;
    const noted = this.#pool.statement(tenantId, NOTE_USE, [clientId]).finally(() => this.#noting.delete(clientId));
    this.#noting.set(clientId, noted);
    return noted;
  }

  async #find(tenantId: TenantId, digests: readonly Buffer[]): Promise<(TokenRow | undefined)[]> {
    const { rows } = await this.#pool.statement<TokenRow>(tenantId, FIND, [digests], 'find-scim-token');
    const found = new Map(rows.map((row) => [row.digest, row]));
    return digests.map((digest) => found.get(digest.toString('hex')));
  }

  /** Only a token of this client (RFC 7009 §2.1). */
  async revoke(token: string, { tenantId, clientId }: Pick<ScimToken, 'tenantId' | 'clientId'>): Promise<void> {
    await this.#pool.statement(
      tenantId,
      'delete from scim_tokens where tenant_id = $1 and client_id = $2 and digest = $3',
      [clientId, digestOf(token)],
    );
  }

  /** Of one secret, or of the client. */
  async revokeAll(tenantId: TenantId, clientId: string, secretId: string | null): Promise<void> {
    await this.#pool.statement(
      tenantId,
      'delete from scim_tokens where tenant_id = $1 and client_id = $2 and ($3::uuid is null or secret_id = $3)',
      [clientId, secretId],
    );
  }

  /** When each client last got or used a token, to the minute. */
  async lastUses(tenantId: TenantId): Promise<ReadonlyMap<string, string>> {
    const { rows } = await this.#pool.statement<{ client_id: string; last_used_at: Date | string }>(
      tenantId,
      'select client_id, last_used_at from scim_client_uses where tenant_id = $1',
      [],
    );
    return new Map(rows.map(({ client_id: id, last_used_at: at }) => [id, new Date(at).toISOString()]));
  }
}

const digestOf = (token: string): Buffer => createHash('sha256').update(token).digest();

const INSERT = `
  insert into scim_tokens (tenant_id, digest, client_id, secret_id, scope, expires_at)
  values ($1, $2, $3, $4, $5, now() + make_interval(secs => $6))`;

const END_OLDEST = `
  delete from scim_tokens where tenant_id = $1 and client_id = $2 and digest not in (
    select digest from scim_tokens where tenant_id = $1 and client_id = $2 and expires_at > now()
     order by expires_at desc, digest limit $3)`;

const NOTE_USE = `
  insert into scim_client_uses (tenant_id, client_id, last_used_at) values ($1, $2, date_trunc('minute', now()))
  on conflict (tenant_id, client_id) do update set last_used_at = excluded.last_used_at
   where scim_client_uses.last_used_at < excluded.last_used_at`;

const FIND = `
  select encode(t.digest, 'hex') as digest, t.client_id, t.secret_id, t.scope, extract(epoch from t.expires_at)::bigint as expires_at,
         coalesce(u.last_used_at > now() - interval '2 minutes', false) as is_use_known
    from scim_tokens t
    left join scim_client_uses u on u.tenant_id = t.tenant_id and u.client_id = t.client_id
   where t.tenant_id = $1 and t.digest = any($2::bytea[]) and t.expires_at > now()`;
