import { getOrgAdmin } from '../../../../../queries/organizations/get-org-admin.ts';
import { orThrow } from '../../../../platform/kernel/failure.ts';
import type { TenantId } from '../../../../platform/kernel/ids.ts';
import type { Freshness } from '../../../../platform/projector/freshness.ts';
import type { TenantReads } from '../../../../platform/kernel/query.ts';
import type { Position } from '../../../../platform/kernel/event.ts';

export interface OrgAdminNamesDependencies {
  readonly freshness: Freshness;
  reads(tenantId: TenantId): TenantReads;
  head(): Promise<Position>;
}

/** Names of an organization's admin that a password must not contain. */
export async function orgAdminNames(
  { freshness, head, reads }: OrgAdminNamesDependencies,
  organizationId: TenantId,
  adminId: string,
): Promise<string[]> {
  // Wait, so that a new admin's names are found.
  await freshness.waitFor(['org_admins'], await head());
  const { email, displayName } = orThrow(await getOrgAdmin(reads(organizationId), { adminId }));
  return [email, displayName];
}
