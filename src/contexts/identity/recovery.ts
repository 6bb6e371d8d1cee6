import { createHash, timingSafeEqual } from 'node:crypto';
import { findAdminAccounts } from '../../../queries/admins/find-admin-accounts.ts';
import { orThrow } from '../../platform/kernel/failure.ts';
import { asTenantId, INSTALLATION, type TenantId } from '../../platform/kernel/ids.ts';
import { findOrgAdmin, type OrgSignInDependencies } from './org-sign-in.ts';
import type { Freshness } from '../../platform/projector/freshness.ts';
import type { TenantReads } from '../../platform/kernel/query.ts';
import type { Position } from '../../platform/kernel/event.ts';

export interface RecoveryDependencies extends OrgSignInDependencies {
  readonly freshness: Freshness;
  accountDigest(email: string): string;
  vitalReads(tenantId: TenantId): TenantReads;
  head(): Promise<Position>;
}

/** Constant time for any lengths (F103): compares digests of both. */
export function isRecoveryKey(presented: string, recoveryKey: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(presented), digest(recoveryKey));
}

export interface RecoverableAccount {
  readonly kind: 'admin' | 'org_admin';
  /** The tenant, or the organization. */
  readonly tenantId: TenantId;
  readonly adminId: string;
}
export type Recoverable = RecoverableAccount | 'unknown_account' | 'ambiguous_account';

/**
 * Finds the account with an e-mail: in the named tenant or organization, or in the only tenant that has it.
 * Organization admins are considered only if no tenant has the e-mail, because most people who need recovery belong to
 * a tenant.
 */
export async function recoverableAccount(
  services: RecoveryDependencies,
  email: string,
  named: TenantId | undefined,
): Promise<Recoverable> {
  const accountDigest = services.accountDigest(email);
  // Waits so that an admin who was just created is found.
  await services.freshness.waitFor(['admin_accounts'], await services.head());
  const accounts = orThrow(await findAdminAccounts(services.vitalReads(INSTALLATION), { accountDigest, most: 1_000 }));
  const [only, ...others] = named ? accounts.filter(({ homeTenantId }) => homeTenantId === named) : accounts;
  if (!only) return (await recoverableOrgAdmin(services, accountDigest, named)) ?? 'unknown_account';
  return others.length > 0
    ? 'ambiguous_account'
    : { kind: 'admin', tenantId: asTenantId(only.homeTenantId), adminId: only.adminId };
}

async function recoverableOrgAdmin(
  services: RecoveryDependencies,
  accountDigest: string,
  named: TenantId | undefined,
): Promise<RecoverableAccount | undefined> {
  const found = await findOrgAdmin(services, accountDigest);
  if (!found || (named && named !== found.organizationId)) return undefined;
  return { kind: 'org_admin', tenantId: found.organizationId, adminId: found.admin.adminId };
}
