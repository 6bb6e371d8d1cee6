import { createHash, createHmac } from 'node:crypto';
import { z } from 'zod';
import type { TenantPool } from '../../platform/database/tenant-pool.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import { LOGOUT_TOKEN_SECONDS, type LoggedOut } from './logout-token.ts';
import { AHEAD_SECONDS, SKEW_SECONDS } from './openid-signatures.ts';

/** Keyed digests of a person and of a session at a provider. */
export const providerSubjectSchema = z.object({ sub: z.string(), sid: z.string().nullable() });
export type ProviderSubject = z.output<typeof providerSubjectSchema>;

/** Longer than any session of an administrator. */
const DAYS = 31;
/** A code that has not become a session yet; its payload has the same member `provider`. */
const CODES = ['sso-handoff', 'org-handoff'];

const MATCHES = `
  tenant_id = $1 and purpose = any($2::text[]) and expires_at > now()
  and ($3::text[] is null or payload->'provider'->>'sub' = any($3))
  and ($4::text[] is null or payload->'provider'->>'sid' = any($4)
       or ($3 is not null and payload->'provider'->>'sid' is null))`;

/**
 * Which of our sessions began through which session at an OpenID Connect provider, for its back-channel logout
 * (decision 0122). People and sessions at the provider are found by keyed digests. Rows expire like other tokens.
 */
export class OidcSessions {
  readonly #pool: TenantPool;
  readonly #keys: readonly [Buffer, ...Buffer[]];

  /** Digests are made with the first key and found with any of them. */
  constructor(pool: TenantPool, keys: readonly [Buffer, ...Buffer[]]) {
    this.#pool = pool;
    this.#keys = keys;
  }

  subjectOf(
    configId: string,
    { subject, providerSessionId }: { readonly subject: string; readonly providerSessionId: string | undefined },
  ): ProviderSubject {
    const digest = digester(this.#keys[0], configId);
    return {
      sub: digest('sub', subject),
      sid: providerSessionId === undefined ? null : digest('sid', providerSessionId),
    };
  }

  /** Call before the session begins: one that no logout finds must not exist. */
  async remember(tenantId: TenantId, sessionId: string, provider: ProviderSubject): Promise<void> {
    await this.#pool.statement(
      tenantId,
      `insert into one_time_tokens (tenant_id, purpose, digest, subject_id, payload, tries_left, expires_at)
       values ($1, 'oidc-session', $2, $3, $4, 1, now() + make_interval(days => $5))
       on conflict do nothing`,
      [createHash('sha256').update(sessionId).digest(), sessionId, JSON.stringify({ provider }), DAYS],
    );
  }

  /**
   * Our sessions that a logout concerns. A token with `sid` concerns that session, and those of the same person whose
   * ID token had no `sid`. Codes of the same sign-ins end here.
   */
  async endedBy(tenantId: TenantId, configId: string, loggedOut: LoggedOut): Promise<string[]> {
    const named = [
      this.#all(configId, 'sub', loggedOut.subject),
      this.#all(configId, 'sid', loggedOut.providerSessionId),
    ];
    await this.#pool.statement(tenantId, `delete from one_time_tokens where ${MATCHES}`, [CODES, ...named]);
    const { rows } = await this.#pool.statement<{ subject_id: string }>(
      tenantId,
      `select subject_id from one_time_tokens where ${MATCHES}`,
      [['oidc-session'], ...named],
    );
    return rows.map(({ subject_id }) => subject_id);
  }

  async forget(tenantId: TenantId, sessionId: string): Promise<void> {
    await this.#pool.statement(
      tenantId,
      `delete from one_time_tokens where tenant_id = $1 and purpose = 'oidc-session' and digest = $2`,
      [createHash('sha256').update(sessionId).digest()],
    );
  }

  async wasUsed(tenantId: TenantId, configId: string, { tokenId }: LoggedOut): Promise<boolean> {
    const { rowCount } = await this.#pool.statement(
      tenantId,
      `select 1 from one_time_tokens where tenant_id = $1 and purpose = 'oidc-logout' and digest = $2`,
      [digestOfToken(configId, tokenId)],
    );
    return rowCount !== 0;
  }

  /** Remembers a token's id for as long as the token counts, with any difference of the clocks. */
  async use(tenantId: TenantId, configId: string, { tokenId }: LoggedOut): Promise<void> {
    await this.#pool.statement(
      tenantId,
      `insert into one_time_tokens (tenant_id, purpose, digest, subject_id, payload, tries_left, expires_at)
       values ($1, 'oidc-logout', $2, $3, '{}', 0, now() + make_interval(secs => $4))
       on conflict do nothing`,
      [digestOfToken(configId, tokenId), configId, AHEAD_SECONDS + LOGOUT_TOKEN_SECONDS + SKEW_SECONDS],
    );
  }

  /** By every key, because a session may be older than a rotation of the master key. */
  #all(configId: string, what: 'sub' | 'sid', text: string | undefined): string[] | null {
    return text === undefined ? null : this.#keys.map((key) => digester(key, configId)(what, text));
  }
}

const digester =
  (key: Buffer, configId: string) =>
  (what: 'sub' | 'sid', text: string): string =>
    createHmac('sha256', key).update(`${what}\n${configId}\n${text}`).digest('hex');

const digestOfToken = (configId: string, tokenId: string): Buffer =>
  createHash('sha256').update(`${configId}\n${tokenId}`).digest();
