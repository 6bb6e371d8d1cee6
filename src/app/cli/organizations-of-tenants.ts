import { listOrganizations } from '../../../queries/organizations/list-organizations.ts';
import { organization, organizationStream } from '../../contexts/organizations/domain/organization.ts';
import type { FindOrganizationDependencies } from '../../contexts/organizations/find-organization.ts';
import { orThrow } from '../../platform/kernel/failure.ts';
import { asTenantId, INSTALLATION, type TenantId } from '../../platform/kernel/ids.ts';
import type { TenantReads } from '../../platform/kernel/query.ts';
import type { NamedTenantsDependencies } from './named-tenants.ts';

export interface OrganizationTenantsDependencies extends FindOrganizationDependencies, NamedTenantsDependencies {
  reads(tenantId: TenantId): TenantReads;
}

export interface ListedOrganization {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly requireSso: boolean;
  readonly tenants: readonly string[];
  readonly admins: number;
}

const MOST = 100_000;

/** Every organization by slug, as its stream says: no read model joins organizations and their tenants. */
export async function allOrganizations({
  reads,
  loader,
}: OrganizationTenantsDependencies): Promise<ListedOrganization[]> {
  const listed: ListedOrganization[] = [];
  for (const { id, slug } of orThrow(await listOrganizations(reads(INSTALLATION), { most: MOST }))) {
    const { name, requireSso, tenants, admins } = await loader.load(organization, organizationStream(asTenantId(id)));
    listed.push({ id, slug, name, requireSso, tenants: [...tenants], admins: admins.size });
  }
  return listed;
}

/** The organization that each tenant belongs to, by the tenant's id. */
export async function organizationsOfTenants(
  services: OrganizationTenantsDependencies,
): Promise<ReadonlyMap<string, { readonly id: string; readonly slug: string }>> {
  const organizations = await allOrganizations(services);
  return new Map(
    organizations.flatMap(({ id, slug, tenants }) => tenants.map((tenantId) => [tenantId, { id, slug }] as const)),
  );
}
