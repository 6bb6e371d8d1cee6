import { createHash } from 'node:crypto';
import type { TenantPool } from '../../../platform/database/tenant-pool.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import { refuseSaml } from './refused.ts';

export interface UsedAssertion {
  readonly tenantId: TenantId;
  readonly configId: string;
  readonly issuer: string;
  readonly assertionId: string;
  /** Epoch milliseconds. */
  readonly endsAt: number;
}

const SQL = `
  insert into one_time_tokens (tenant_id, purpose, digest, subject_id, payload, tries_left, expires_at)
  values ($1, 'saml-assertion', $2, $3, '{}', 0, to_timestamp($4))
  on conflict do nothing`;

/**
 * Stores an assertion's id for as long as the assertion is valid (Profiles §4.1.4.5). Throws `SamlRefused` if it is
 * already stored.
 */
export async function useOnce(
  pool: TenantPool,
  { tenantId, configId, issuer, assertionId, endsAt }: UsedAssertion,
): Promise<void> {
  const digest = createHash('sha256').update(`${issuer}\n${assertionId}`).digest();
  const { rowCount } = await pool.statement(tenantId, SQL, [digest, configId, endsAt / 1000]);
  if (rowCount !== 1) refuseSaml('replayed', 'the assertion was already used');
}
