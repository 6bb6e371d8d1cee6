import { hkdfSync } from 'node:crypto';
import type pg from 'pg';
import { ConfigError } from '../../platform/config-error.ts';
import { ChainKey } from './domain/chain-key.ts';
import { sealSchema } from './domain/events.ts';
import { auditHeadStream, isGenuineSeal } from './domain/sealed-head.ts';
import { INSTALLATION, type TenantId } from '../../platform/kernel/ids.ts';
import type { AuditLogRow } from '../../../projections/audit/audit-log.ts';
import { continuesChain } from './diagnosis.ts';

/** The chain was made with another key. The message contains no key, only fingerprints. */
export class WrongAuditKey extends ConfigError {
  constructor(reason: string) {
    super(
      `AUDIT_HMAC_KEY is not the key of this database's audit log (${reason}). Set the key that the installation was first started with. Nothing was changed`,
    );
    this.name = 'WrongAuditKey';
  }
}

/** Identifies the key without revealing it: 16 hex digits. */
export const auditKeyFingerprint = (auditKey: Buffer): string =>
  Buffer.from(hkdfSync('sha256', auditKey, Buffer.alloc(0), 'castellan/audit-key-fingerprint', 8)).toString('hex');

/** Number of chains whose first entry is checked against the key: enough that one changed row does not decide. */
const ASKED = 20;

const FIRST_ENTRIES = `
  select e.* from (select tenant_id from audit_log where position = 0 limit ${ASKED}) t
   cross join lateral (
     select position::int8, sequence, hash, previous_hash, event_id, actor_type, actor_id, action, resource_type, resource_id, details, event, ip_address, user_agent,
            to_char(recorded_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as recorded_at
       from audit_log a where a.tenant_id = t.tenant_id and a.position > 0 order by a.position limit 1) e`;
const FIRST_SEALS = `select tenant_id as "tenantId", data from events where stream = any($1) and revision = 0`;

/**
 * Compares the key with the fingerprint in the database. If an earlier version left none, compares it with the existing
 * chains.
 */
export class AuditKeyCheck {
  readonly #owner: pg.Pool;
  readonly #fingerprint: string;
  readonly #isKnown: boolean;

  private constructor(owner: pg.Pool, fingerprint: string, isKnown: boolean) {
    this.#owner = owner;
    this.#fingerprint = fingerprint;
    this.#isKnown = isKnown;
  }

  /** Throws `WrongAuditKey`. Writes nothing. */
  static async of(owner: pg.Pool, auditKey: Buffer): Promise<AuditKeyCheck> {
    const fingerprint = auditKeyFingerprint(auditKey);
    const kept = await keptFingerprint(owner);
    if (kept !== undefined) refuseOther(kept, fingerprint);
    else await refuseStranger(owner, new ChainKey(auditKey));
    return new AuditKeyCheck(owner, fingerprint, kept !== undefined);
  }

  /**
   * Stores the fingerprint: processes with another key no longer start. Of processes that start at once with different
   * keys, only one succeeds.
   */
  async adopt(): Promise<void> {
    if (this.#isKnown) return;
    await this.#owner.query('insert into audit_key (fingerprint) values ($1) on conflict do nothing', [
      this.#fingerprint,
    ]);
    refuseOther((await keptFingerprint(this.#owner))!, this.#fingerprint);
  }
}

async function keptFingerprint(owner: pg.Pool): Promise<string | undefined> {
  const { rows } = await owner.query<{ fingerprint: string }>('select fingerprint from audit_key');
  return rows[0]?.fingerprint;
}

function refuseOther(kept: string, fingerprint: string): void {
  if (kept !== fingerprint) throw new WrongAuditKey(`expected fingerprint ${kept}, got ${fingerprint}`);
}

/** The first entries of chains are the oldest evidence: a wrong key that was used for a while has left none there. */
async function refuseStranger(owner: pg.Pool, key: ChainKey): Promise<void> {
  const verdicts = [...(await ofEntries(owner, key)), ...(await ofSeals(owner, key))];
  const genuine = verdicts.filter(Boolean).length;
  if (2 * genuine < verdicts.length) throw new WrongAuditKey('its entries were made with another key');
}

async function ofEntries(owner: pg.Pool, key: ChainKey): Promise<boolean[]> {
  const { rows: found } = await owner.query<{ exists: boolean }>(
    `select to_regclass('audit_log') is not null as exists`,
  );
  if (!found[0]!.exists) return [];
  const { rows } = await owner.query<Omit<AuditLogRow, 'sequence'> & { sequence: string | number }>(FIRST_ENTRIES);
  return rows.map((row) => {
    const sequence = Number(row.sequence);
    return continuesChain(key, { sequence: sequence - 1, hash: row.previous_hash ?? '' }, { ...row, sequence });
  });
}

async function ofSeals(owner: pg.Pool, key: ChainKey): Promise<boolean[]> {
  const { rows: tenants } = await owner.query<{ id: TenantId }>(
    `select tenant_id as id from tenant_keys limit ${ASKED}`,
  );
  const streams = [INSTALLATION, ...tenants.map(({ id }) => id)].map(auditHeadStream);
  const { rows } = await owner.query<{ tenantId: TenantId; data: unknown }>(FIRST_SEALS, [streams]);
  return rows.map(({ tenantId, data }) => {
    const seal = sealSchema.safeParse(data);
    return seal.success && isGenuineSeal(key, tenantId, seal.data);
  });
}
