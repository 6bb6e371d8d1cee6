import { listTenants } from '../../../queries/tenants/list-tenants.ts';
import { findTenant, type FindTenantDependencies } from '../../contexts/tenants/find-tenant.ts';
import { orThrow } from '../../platform/kernel/failure.ts';
import { INSTALLATION, type TenantId } from '../../platform/kernel/ids.ts';
import type { ListedTenant } from '../../../projections/tenants/tenant-directory.ts';
import type { TenantReads } from '../../platform/kernel/query.ts';

export interface NamedTenantsDependencies extends FindTenantDependencies {
  reads(tenantId: TenantId): TenantReads;
}

const MOST = 100_000;

/** The tenant that an operator names, or all of them. Throws `FailureError` if there is no such tenant. */
export async function namedTenants(
  services: NamedTenantsDependencies,
  named: string | undefined,
): Promise<ListedTenant[]> {
  const all = orThrow(await listTenants(services.reads(INSTALLATION), { most: MOST }));
  if (named === undefined) return all;
  const tenantId = await findTenant(services, named);
  return all.filter(({ id }) => id === tenantId);
}
