import { createHash, timingSafeEqual } from 'node:crypto';
import { findAdminAccounts } from '../../queries/admins/find-admin-accounts.ts';
import { orThrow } from '../kernel/failure.ts';
import { asTenantId, INSTALLATION, type TenantId } from '../kernel/ids.ts';
import type { Services } from '../services.ts';

/** In constant time, whatever the lengths (F103): digests of both are compared. */
export function isRecoveryKey(presented: string, recoveryKey: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(presented), digest(recoveryKey));
}

export type Recoverable = { readonly tenantId: TenantId; readonly adminId: string } | 'unknown_account' | 'ambiguous_account';

/** Whose account an e-mail names: in the named tenant, or in the only one that has it. */
export async function recoverableAccount(services: Services, email: string, named: TenantId | undefined): Promise<Recoverable> {
  const accountDigest = services.accountDigest(email);
  // An admin who was made a moment ago has to be found.
  await services.freshness.waitFor(['admin_accounts'], await services.head());
  const accounts = orThrow(await findAdminAccounts(services.reads(INSTALLATION), { accountDigest, most: 1_000 }));
  const [only, ...others] = named ? accounts.filter(({ homeTenantId }) => homeTenantId === named) : accounts;
  if (!only) return 'unknown_account';
  return others.length > 0 ? 'ambiguous_account' : { tenantId: asTenantId(only.homeTenantId), adminId: only.adminId };
}
