import { createHash } from 'node:crypto';
import type { TenantPool } from '../../../platform/database/tenant-pool.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import type { NamedByLogout } from './logout-marks.ts';
import { refuseSaml } from './refused.ts';

/** What counts once: an assertion (Profiles §4.1.4.5), or a request for logout (decision 0190). */
export interface UsedMessage {
  readonly kind: 'assertion' | 'logout';
  readonly tenantId: TenantId;
  readonly configId: string;
  readonly issuer: string;
  /** Unique for each message of the issuer. */
  readonly id: string;
  /** When the message counts no longer, in epoch milliseconds. */
  readonly endsAt: number;
  /** Of a request for logout: whom it names, for assertions that come later. */
  readonly named?: NamedByLogout;
}

const INSERT = `
  insert into one_time_tokens (tenant_id, purpose, digest, subject_id, payload, tries_left, expires_at)
  values ($1, $2, $3, $4, $6, 0, to_timestamp($5))
  on conflict do nothing`;
const DELETE = 'delete from one_time_tokens where tenant_id = $1 and purpose = $2 and digest = $3';

/**
 * Stores a message's id for as long as the message counts: of any number of deliveries, to any process, one counts.
 * Throws `SamlRefused` if the id is already stored.
 */
export async function useOnce(pool: TenantPool, used: UsedMessage): Promise<void> {
  const { tenantId, configId, endsAt, named } = used;
  const { rowCount } = await pool.statement(tenantId, INSERT, [
    ...keyOf(used),
    configId,
    endsAt / 1000,
    JSON.stringify(named ? { named } : {}),
  ]);
  if (rowCount !== 1) refuseSaml('replayed', `the ${used.kind} was already used`);
}

/** For a message that could not take effect: the next delivery counts. */
export async function forgetUse(pool: TenantPool, used: UsedMessage): Promise<void> {
  await pool.statement(used.tenantId, DELETE, keyOf(used));
}

const keyOf = ({ kind, issuer, id }: UsedMessage): [purpose: string, digest: Buffer] => [
  `saml-${kind}`,
  createHash('sha256').update(`${issuer}\n${id}`).digest(),
];
