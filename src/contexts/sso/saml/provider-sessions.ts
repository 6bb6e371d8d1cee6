import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { TenantPool } from '../../../platform/database/tenant-pool.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import type { SamlConfig } from '../domain/events.ts';
import { END_CODE, ENDED_CODE, type EndedCode } from '../ended-codes.ts';
import { HANDOVER_SECONDS } from '../page-return.ts';
import type { ProviderSession } from './logout-messages.ts';
import type { NamedByLogout, SamlMarks } from './logout-marks.ts';
import type { LogoutRequest } from './logout-request.ts';

/** A session of ours that began through a provider. */
export interface BegunSession {
  readonly tenantId: TenantId;
  readonly sessionId: string;
  readonly configId: string;
}

/** An assertion of a provider. */
export interface Issued {
  /** Its entity id. */
  readonly issuer: string;
  /** By its clock, in epoch milliseconds. */
  readonly issuedAt: number;
}

/** Longer than any session of an administrator. */
const DAYS = 31;
const sessionSchema = z.object({ nameId: z.string(), nameIdFormat: z.string(), sessionIndex: z.string().optional() });

/**
 * Which session at the provider belongs to which of ours, for a logout in either direction (decision 0085). Names of
 * people are stored encrypted, and found by a keyed digest. Rows expire like other tokens.
 */
export class ProviderSessions {
  readonly #pool: TenantPool;
  readonly #key: Buffer;

  /** `key` has 32 bytes. */
  constructor(pool: TenantPool, key: Buffer) {
    this.#pool = pool;
    this.#key = key;
  }

  seal({ nameId, nameIdFormat, sessionIndex }: ProviderSession): string {
    const iv = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', this.#key, iv);
    const text = JSON.stringify({ nameId, nameIdFormat, sessionIndex });
    const sealed = Buffer.concat([cipher.update(text), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url');
  }

  marksOf(configId: string, { nameId, sessionIndex }: Pick<ProviderSession, 'nameId' | 'sessionIndex'>): SamlMarks {
    return {
      name: this.#digest('name', `${configId}\n${nameId}`).toString('hex'),
      index: this.#digest('index', sessionIndex ?? '').toString('hex'),
    };
  }

  /** A session whose assertion had no index may be the one that is meant, as one without `sid` (decision 0122). */
  namedBy(
    { configId, idpEntityId }: Pick<SamlConfig, 'configId' | 'idpEntityId'>,
    { nameId, sessionIndexes, issuedAt }: Pick<LogoutRequest, 'nameId' | 'sessionIndexes' | 'issuedAt'>,
  ): NamedByLogout {
    return {
      name: this.marksOf(configId, { nameId, sessionIndex: undefined }).name,
      issuer: idpEntityId,
      indexes: (sessionIndexes.length === 0 ? [] : ['', ...sessionIndexes]).map((index) =>
        this.#digest('index', index).toString('hex'),
      ),
      // Some providers write whole seconds. Of an assertion in the same second it is unknown which came first.
      issuedAt: issuedAt % 1_000 === 0 ? issuedAt + 999 : issuedAt,
    };
  }

  /** Call before the session begins: one that no logout finds must not exist. */
  async remember({ tenantId, sessionId, configId }: BegunSession, sealed: string): Promise<void> {
    const session = this.#open(sealed);
    if (!session) return;
    await this.#pool.statement(
      tenantId,
      `insert into one_time_tokens (tenant_id, purpose, digest, subject_id, payload, tries_left, expires_at)
       values ($1, 'saml-session', $2, $3, $4, 1, now() + make_interval(days => $5))
       on conflict do nothing`,
      [
        this.#digest('session', sessionId),
        sessionId,
        JSON.stringify({ sealed, ...this.marksOf(configId, session) }),
        DAYS,
      ],
    );
  }

  /** The provider's session of one of ours; once. */
  async take(tenantId: TenantId, sessionId: string): Promise<ProviderSession | undefined> {
    const { rows } = await this.#pool.statement<{ payload: { sealed?: unknown } }>(
      tenantId,
      `delete from one_time_tokens where tenant_id = $1 and purpose = 'saml-session' and digest = $2 returning payload`,
      [this.#digest('session', sessionId)],
    );
    const sealed = rows[0]?.payload.sealed;
    return typeof sealed === 'string' ? this.#open(sealed) : undefined;
  }

  /** Our sessions that a logout names. `isNewer` than what is meant. */
  async of(
    tenantId: TenantId,
    { name, indexes }: NamedByLogout,
    begunBefore: number,
  ): Promise<{ readonly sessionId: string; readonly isNewer: boolean }[]> {
    const { rows } = await this.#pool.statement<{ subject_id: string; is_newer: boolean }>(
      tenantId,
      `select subject_id, expires_at > to_timestamp($4) + make_interval(days => $5) as is_newer from one_time_tokens
        where tenant_id = $1 and purpose = 'saml-session' and payload->>'name' = $2
          and (cardinality($3::text[]) = 0 or payload->>'index' = any($3::text[]))`,
      [name, indexes, begunBefore / 1000, DAYS],
    );
    return rows.map(({ subject_id: sessionId, is_newer: isNewer }) => ({ sessionId, isNewer }));
  }

  /**
   * Ends the codes of sign-ins that a logout names: no session may follow. Call before `of`. Also a used code ends, because
   * its session may not have begun yet. `recordEndedCodes` deletes them. `spares`: a newer one goes on.
   */
  async endCodes(
    tenantId: TenantId,
    { name, indexes }: NamedByLogout,
    begunBefore: number,
  ): Promise<{ readonly spares: boolean; readonly codes: readonly EndedCode[] }> {
    const { rows } = await this.#pool.statement<{ spares: boolean; ended: EndedCode[] }>(
      tenantId,
      `with named as (
         select digest, expires_at, expires_at > to_timestamp($4) + make_interval(secs => $5) as is_newer
           from one_time_tokens
          where tenant_id = $1 and purpose = 'sso-handoff' and payload->'marks'->>'name' = $2
            and (cardinality($3::text[]) = 0 or payload->'marks'->>'index' = any($3::text[]))),
       ended as (
         update one_time_tokens as code set ${END_CODE}
          where tenant_id = $1 and purpose = 'sso-handoff' and digest in (select digest from named where not is_newer)
         returning ${ENDED_CODE})
       select coalesce(bool_or(is_newer and expires_at > now()), false) as spares,
              (select coalesce(jsonb_agg(to_jsonb(ended)), '[]') from ended) as ended
         from named`,
      [name, indexes, begunBefore / 1000, HANDOVER_SECONDS],
    );
    const { spares, ended } = rows[0]!;
    return { spares, codes: ended };
  }

  /** The same for one of our sessions, whose person signs out at the provider, too. */
  async endCodesBeside(tenantId: TenantId, sessionId: string): Promise<EndedCode[]> {
    const { rows } = await this.#pool.statement<EndedCode>(
      tenantId,
      `update one_time_tokens as code set ${END_CODE} from one_time_tokens as session
        where code.tenant_id = $1 and code.purpose = 'sso-handoff' and session.tenant_id = $1
          and session.purpose = 'saml-session' and session.digest = $2
          and code.payload->'marks'->>'name' = session.payload->>'name'
          and code.payload->'marks'->>'index' = session.payload->>'index'
       returning ${ENDED_CODE}`,
      [this.#digest('session', sessionId)],
    );
    return rows;
  }

  /**
   * True if the provider asked for a logout that holds for an assertion that it had issued before, whichever of the two
   * arrived first (Core §3.7.3.1). Both instants are the provider's. Call after the assertion's code is stored: a later
   * logout finds that.
   */
  async isLoggedOut(tenantId: TenantId, { name, index }: SamlMarks, { issuer, issuedAt }: Issued): Promise<boolean> {
    const { rowCount } = await this.#pool.statement(
      tenantId,
      `select 1 from one_time_tokens
        where tenant_id = $1 and purpose = 'saml-logout' and expires_at > now() and payload->'named'->>'name' = $2
          and (payload->'named'->'indexes' = '[]' or payload->'named'->'indexes' @> to_jsonb($3::text))
          and (payload->'named'->>'issuedAt')::numeric >= $4 and coalesce(payload->'named'->>'issuer', $5) = $5
        limit 1`,
      [name, index, issuedAt, issuer],
    );
    return rowCount !== 0;
  }

  /** Undefined for what another key sealed: then a logout stays ours alone. */
  #open(sealed: string): ProviderSession | undefined {
    try {
      const octets = Buffer.from(sealed, 'base64url');
      const decipher = createDecipheriv('aes-256-gcm', this.#key, octets.subarray(0, 12));
      decipher.setAuthTag(octets.subarray(12, 28));
      const text = Buffer.concat([decipher.update(octets.subarray(28)), decipher.final()]).toString();
      const { nameId, nameIdFormat, sessionIndex } = sessionSchema.parse(JSON.parse(text));
      return { nameId, nameIdFormat, sessionIndex };
    } catch {
      return undefined;
    }
  }

  #digest(what: string, text: string): Buffer {
    return createHmac('sha256', this.#key).update(`${what}\n${text}`).digest();
  }
}
