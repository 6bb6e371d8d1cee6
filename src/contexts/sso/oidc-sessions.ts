import { createHash, createHmac, randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import { z } from 'zod';
import type { TenantPool } from '../../platform/database/tenant-pool.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import { CODES, END_CODE, ENDED_CODE, type EndedCode } from './ended-codes.ts';
import { LOGOUT_TOKEN_SECONDS, type LoggedOut } from './logout-token.ts';
import { withoutSlash } from './openid-refusals.ts';
import { AHEAD_SECONDS, SKEW_SECONDS } from './openid-signatures.ts';

/** Keyed digests of a person and of a session at a provider. */
export const providerSubjectSchema = z.object({ sub: z.string(), sid: z.string().nullable() });
export type ProviderSubject = z.output<typeof providerSubjectSchema>;

/** When a sign-in got its ID token, to tell which logouts overtook it. */
export interface SignInTimes {
  /** Before the code was sent to the issuer: by the database's clock, in epoch seconds. */
  readonly acceptedAt: number;
  /** `iat` of the ID token: by the issuer's clock, in epoch seconds. */
  readonly issuedAt: number;
}

/** A subject belongs to its issuer: that of another one, which the configuration had before, is somebody else. */
export interface AskedIssuer {
  readonly configId: string;
  readonly issuerUrl: string;
}

/** Longer than any session of an administrator. */
const DAYS = 31;
/** Longer than the deadline of a request. */
const CLAIM_SECONDS = 15;

/** Sessions, or `CODES`. */
const MATCHES = `
  tenant_id = $1 and purpose = any($2::text[])
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
   * ID token had no `sid`. Codes of the same sign-ins end here, also used ones: their sessions may not have begun yet.
   * `recordEndedCodes` deletes them.
   */
  async endedBy(
    tenantId: TenantId,
    configId: string,
    loggedOut: LoggedOut,
  ): Promise<{ readonly sessionIds: readonly string[]; readonly codes: readonly EndedCode[] }> {
    const named = [
      this.#all(configId, 'sub', loggedOut.subject),
      this.#all(configId, 'sid', loggedOut.providerSessionId),
    ];
    const ended = await this.#pool.statement<EndedCode>(
      tenantId,
      `update one_time_tokens as code set ${END_CODE} where ${MATCHES} returning ${ENDED_CODE}`,
      [CODES, ...named],
    );
    const { rows } = await this.#pool.statement<{ subject_id: string }>(
      tenantId,
      `select subject_id from one_time_tokens where ${MATCHES} and expires_at > now()`,
      [['oidc-session'], ...named],
    );
    return { sessionIds: rows.map(({ subject_id }) => subject_id), codes: ended.rows };
  }

  /** True if an ID token names the person whose session this is. Its signature is not checked. */
  async isOf(tenantId: TenantId, sessionId: string, configId: string, idToken: string): Promise<boolean> {
    const subs = this.#all(configId, 'sub', subjectIn(idToken));
    if (subs === null) return false;
    const { rowCount } = await this.#pool.statement(
      tenantId,
      `select 1 from one_time_tokens
        where tenant_id = $1 and purpose = 'oidc-session' and digest = $2 and payload->'provider'->>'sub' = any($3::text[])`,
      [createHash('sha256').update(sessionId).digest(), subs],
    );
    return rowCount !== 0;
  }

  /** Ends the codes of the session at the provider that one of ours began through: its person signs out there, too. */
  async endCodesBeside(tenantId: TenantId, sessionId: string): Promise<EndedCode[]> {
    const { rows } = await this.#pool.statement<EndedCode>(
      tenantId,
      `update one_time_tokens as code set ${END_CODE} from one_time_tokens as session
        where code.tenant_id = $1 and code.purpose = any($2::text[]) and session.tenant_id = $1
          and session.purpose = 'oidc-session' and session.digest = $3
          and code.payload->'provider' = session.payload->'provider'
       returning ${ENDED_CODE}`,
      [CODES, createHash('sha256').update(sessionId).digest()],
    );
    return rows;
  }

  async forget(tenantId: TenantId, sessionId: string): Promise<void> {
    await this.#pool.statement(
      tenantId,
      `delete from one_time_tokens where tenant_id = $1 and purpose = 'oidc-session' and digest = $2`,
      [createHash('sha256').update(sessionId).digest()],
    );
  }

  /**
   * Claims a logout token: returns the id of the claim to one of all its deliveries, at any process. The id is kept for as long as the token counts,
   * with any difference of the clocks. A claim that was not `conclude`-d holds for `CLAIM_SECONDS`: its process may have died.
   * It names whom the token names, for sign-ins at the same time (`isLoggedOut`), so claim before `endedBy`.
   */
  async claim(tenantId: TenantId, issuer: AskedIssuer, loggedOut: LoggedOut): Promise<string | undefined> {
    await this.#pool.restitution.first(claimKey(issuer.configId, loggedOut));
    const claimId = randomUUID();
    return this.#claim(tenantId, issuer, loggedOut, claimId).catch((error: unknown) => {
      void this.release(tenantId, issuer.configId, loggedOut, claimId);
      throw error;
    });
  }

  async #claim(
    tenantId: TenantId,
    { configId, issuerUrl }: AskedIssuer,
    loggedOut: LoggedOut,
    claimId: string,
  ): Promise<string | undefined> {
    const { tokenId, issuedAt, subject, providerSessionId } = loggedOut;
    const named = {
      sub: this.#all(configId, 'sub', subject),
      sid: this.#all(configId, 'sid', providerSessionId),
      issuer: withoutSlash(issuerUrl),
      issuedAt,
    };
    const { rowCount } = await this.#pool.inTime(
      tenantId,
      `insert into one_time_tokens as known (tenant_id, purpose, digest, subject_id, payload, tries_left, expires_at)
       select $1, 'oidc-logout', $2, $3,
              jsonb_build_object('until', at + $5, 'receivedAt', at, 'named', $6::jsonb, 'claimId', $7::text), 1,
              now() + make_interval(secs => $4)
         from (select extract(epoch from clock_timestamp()) as at) as instant
       on conflict (tenant_id, purpose, digest) do update set payload = excluded.payload
        where known.tries_left > 0 and (known.payload->>'until')::numeric < extract(epoch from clock_timestamp())
       returning 1`,
      [
        digestOfToken(configId, tokenId),
        configId,
        AHEAD_SECONDS + LOGOUT_TOKEN_SECONDS + SKEW_SECONDS,
        CLAIM_SECONDS,
        JSON.stringify(named),
        claimId,
      ],
    );
    return rowCount === 1 ? claimId : undefined;
  }

  /**
   * True if a logout overtook a sign-in: one that arrived after its code was sent to the issuer, or that the issuer decided on
   * after it had made the ID token. Call after the sign-in's code is stored: a later logout finds that (decision 0193).
   */
  async isLoggedOut(
    tenantId: TenantId,
    { configId, issuerUrl }: AskedIssuer,
    { sub, sid }: ProviderSubject,
    { acceptedAt, issuedAt }: SignInTimes,
  ): Promise<boolean> {
    const { rowCount } = await this.#pool.statement(
      tenantId,
      `select 1 from (
         select payload, payload->'named'->'sub' as subs, payload->'named'->'sid' as sids from one_time_tokens
          where tenant_id = $1 and purpose = 'oidc-logout' and subject_id = $2 and expires_at > now()
            and payload ? 'named') as logout
        where (subs = 'null' or subs @> to_jsonb($3::text))
          and (sids = 'null' or sids @> to_jsonb($4::text) or (subs <> 'null' and $4::text is null))
          and coalesce(payload->'named'->>'issuer', $7) = $7
          and ((payload->>'receivedAt')::float8 >= $5 or (payload->'named'->>'issuedAt')::float8 > $6)
        limit 1`,
      [configId, sub, sid, acceptedAt, issuedAt, withoutSlash(issuerUrl)],
    );
    return rowCount !== 0;
  }

  /** The token has ended what it names. */
  async conclude(tenantId: TenantId, configId: string, { tokenId }: LoggedOut): Promise<void> {
    await this.#pool.statement(
      tenantId,
      `update one_time_tokens set tries_left = 0 where tenant_id = $1 and purpose = 'oidc-logout' and digest = $2`,
      [digestOfToken(configId, tokenId)],
    );
  }

  /** Gives a claim back, as soon as the database is there, so that the provider can repeat a logout that failed half way. */
  release(tenantId: TenantId, configId: string, loggedOut: LoggedOut, claimId: string): Promise<void> {
    return this.#pool.restitution.whenBack(claimKey(configId, loggedOut), CLAIM_SECONDS * 1_000, () =>
      this.#pool.inTime(
        tenantId,
        `delete from one_time_tokens
          where tenant_id = $1 and purpose = 'oidc-logout' and digest = $2 and tries_left > 0 and payload->>'claimId' = $3`,
        [digestOfToken(configId, loggedOut.tokenId), claimId],
      ),
    );
  }

  /** By every key, because a session may be older than a rotation of the master key. */
  #all(configId: string, what: 'sub' | 'sid', text: string | undefined): string[] | null {
    return text === undefined ? null : this.#keys.map((key) => digester(key, configId)(what, text));
  }
}

function subjectIn(idToken: string): string | undefined {
  try {
    return decodeJwt(idToken).sub;
  } catch {
    return undefined;
  }
}

const digester =
  (key: Buffer, configId: string) =>
  (what: 'sub' | 'sid', text: string): string =>
    createHmac('sha256', key).update(`${what}\n${configId}\n${text}`).digest('hex');

const claimKey = (configId: string, { tokenId }: LoggedOut): string => digestOfToken(configId, tokenId).toString('hex');
const digestOfToken = (configId: string, tokenId: string): Buffer =>
  createHash('sha256').update(`${configId}\n${tokenId}`).digest();
