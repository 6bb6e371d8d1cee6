import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { TenantPool } from '../../../platform/database/tenant-pool.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import type { ProviderSession } from './logout-messages.ts';
import type { LogoutRequest } from './logout-request.ts';

/** A session of ours that began through a provider. */
export interface BegunSession {
  readonly tenantId: TenantId;
  readonly sessionId: string;
  readonly configId: string;
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

  async remember({ tenantId, sessionId, configId }: BegunSession, sealed: string): Promise<void> {
    const session = this.#open(sealed);
    if (!session) return;
    const { nameId, sessionIndex } = session;
    await this.#pool.statement(
      tenantId,
      `insert into one_time_tokens (tenant_id, purpose, digest, subject_id, payload, tries_left, expires_at)
       values ($1, 'saml-session', $2, $3, $4, 1, now() + make_interval(days => $5))
       on conflict do nothing`,
      [
        this.#digest('session', sessionId),
        sessionId,
        JSON.stringify({
          sealed,
          name: this.#digest('name', `${configId}\n${nameId}`).toString('hex'),
          index: this.#digest('index', sessionIndex ?? '').toString('hex'),
        }),
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

  /** Our sessions of a name at the provider: of these indexes, or all of them. `isNewer` than what is meant. */
  async of(
    tenantId: TenantId,
    configId: string,
    { nameId, sessionIndexes, begunBefore }: Pick<LogoutRequest, 'nameId' | 'sessionIndexes' | 'begunBefore'>,
  ): Promise<{ readonly sessionId: string; readonly isNewer: boolean }[]> {
    const { rows } = await this.#pool.statement<{ subject_id: string; is_newer: boolean }>(
      tenantId,
      `select subject_id, expires_at > to_timestamp($4) + make_interval(days => $5) as is_newer from one_time_tokens
        where tenant_id = $1 and purpose = 'saml-session' and payload->>'name' = $2
          and (cardinality($3::text[]) = 0 or payload->>'index' = any($3::text[]))`,
      [
        this.#digest('name', `${configId}\n${nameId}`).toString('hex'),
        sessionIndexes.map((index) => this.#digest('index', index).toString('hex')),
        begunBefore / 1000,
        DAYS,
      ],
    );
    return rows.map(({ subject_id: sessionId, is_newer: isNewer }) => ({ sessionId, isNewer }));
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
