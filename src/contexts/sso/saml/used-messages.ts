import { createHash, randomUUID } from 'node:crypto';
import type { TenantPool } from '../../../platform/database/tenant-pool.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import type { NamedByLogout } from './logout-marks.ts';
import { refuseSaml, SamlRefused } from './refused.ts';

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
/** Only if it was stored by this delivery: another one may count by now. */
const DELETE = `
  delete from one_time_tokens where tenant_id = $1 and purpose = $2 and digest = $3 and payload->>'deliveryId' = $4`;
/** Longer than any outage that a person waits for. */
const FORGET_MS = 120_000;

/**
 * Stores a message's id for as long as the message counts: of any number of deliveries, to any process, one counts.
 * Throws `SamlRefused` if the id is already stored. If it throws anything else, the message was not used. Returns the id of
 * this delivery.
 */
export async function useOnce(pool: TenantPool, used: UsedMessage): Promise<string> {
  await pool.restitution.first(nameOf(used));
  const deliveryId = randomUUID();
  return store(pool, used, deliveryId).catch((error: unknown) => {
    if (!(error instanceof SamlRefused)) void forgetUse(pool, used, deliveryId);
    throw error;
  });
}

async function store(pool: TenantPool, used: UsedMessage, deliveryId: string): Promise<string> {
  const { tenantId, configId, endsAt, named } = used;
  const { rowCount } = await pool.inTime(tenantId, INSERT, [
    ...keyOf(used),
    configId,
    endsAt / 1000,
    JSON.stringify(named ? { named, deliveryId } : { deliveryId }),
  ]);
  if (rowCount !== 1) refuseSaml('replayed', `the ${used.kind} was already used`);
  return deliveryId;
}

/** For a delivery that could not take effect: the next one counts, as soon as the database is there. */
export const forgetUse = (pool: TenantPool, used: UsedMessage, deliveryId: string): Promise<void> =>
  pool.restitution.whenBack(nameOf(used), FORGET_MS, () =>
    pool.inTime(used.tenantId, DELETE, [...keyOf(used), deliveryId]),
  );

const nameOf = (used: UsedMessage): string => {
  const [purpose, digest] = keyOf(used);
  return `${used.tenantId} ${purpose} ${digest.toString('hex')}`;
};

const keyOf = ({ kind, issuer, id }: UsedMessage): [purpose: string, digest: Buffer] => [
  `saml-${kind}`,
  createHash('sha256').update(`${issuer}\n${id}`).digest(),
];
