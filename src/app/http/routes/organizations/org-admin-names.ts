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

/** What everybody knows of an organization's admin, and a password must not be made of. */
export async function orgAdminNames(
  { freshness, head, reads }: OrgAdminNamesDependencies,
  organizationId: TenantId,
  adminId: string,
): Promise<string[]> {
  // Whoever was made a moment ago has names, too.
  await freshness.waitFor(['org_admins'], await head());
  const { email, displayName } = orThrow(await getOrgAdmin(reads(organizationId), { adminId }));
  return [email, displayName];
}
