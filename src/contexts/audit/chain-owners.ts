import { listOrganizations } from '../../../queries/organizations/list-organizations.ts';
import { listTenants } from '../../../queries/tenants/list-tenants.ts';
import { FailureError, invalid, orThrow } from '../../platform/kernel/failure.ts';
import { asTenantId, INSTALLATION, type TenantId } from '../../platform/kernel/ids.ts';
import { findOrganization, type FindOrganizationDependencies } from '../organizations/find-organization.ts';
import { findTenant, type FindTenantDependencies } from '../tenants/find-tenant.ts';
import type { Database } from '../../platform/database/database.ts';
import type { TenantReads } from '../../platform/kernel/query.ts';

export interface ChainOwnersDependencies extends FindOrganizationDependencies, FindTenantDependencies {
  readonly database: Database;
  reads(tenantId: TenantId): TenantReads;
}

/** The owner of an audit chain: a tenant, an organization, or the installation itself. */
export interface ChainOwner {
  readonly id: TenantId;
  /** As shown to an operator. */
  readonly name: string;
}

/** An owner, as an operator names it. */
export interface NamedOwner {
  readonly tenant?: string;
  readonly organization?: string;
  readonly installation?: boolean;
}

const MOST = 100_000;
const INSTALLATION_ITSELF: ChainOwner = { id: INSTALLATION, name: 'installation' };

/**
 * Reads the directories and the audit table itself, so that a chain is still found if its owner was removed from a
 * directory.
 */
export async function chainOwners({ reads, database }: ChainOwnersDependencies): Promise<ChainOwner[]> {
  const [organizations, tenants, heads] = await Promise.all([
    listOrganizations(reads(INSTALLATION), { most: MOST }),
    listTenants(reads(INSTALLATION), { most: MOST }),
    database.projector.query<{ id: string }>('select tenant_id as id from audit_log where position = 0'),
  ]);
  const named =
    (kind: string) =>
    ({ id, slug }: { id: string; slug: string }): ChainOwner => ({ id: asTenantId(id), name: `${kind} ${slug}` });
  const listed = [
    INSTALLATION_ITSELF,
    ...orThrow(organizations).map(named('organization')),
    ...orThrow(tenants).map(named('tenant')),
  ];
  const known = new Set<string>(listed.map(({ id }) => id));
  return [
    ...listed,
    ...heads.rows.filter(({ id }) => !known.has(id)).map(({ id }) => ({ id: asTenantId(id), name: 'listed nowhere' })),
  ];
}

/**
 * Returns undefined if no owner is named. Throws `FailureError` if the owner does not exist or more than one is named.
 */
export async function findChainOwner(
  services: ChainOwnersDependencies,
  { tenant, organization, installation }: NamedOwner,
): Promise<ChainOwner | undefined> {
  if ([tenant, organization, installation].filter(Boolean).length > 1)
    throw new FailureError(invalid('audit', 'name only one tenant, one organization or the installation'));
  if (tenant) return { id: await findTenant(services, tenant), name: `tenant ${tenant}` };
  if (organization) return { id: await findOrganization(services, organization), name: `organization ${organization}` };
  return installation ? INSTALLATION_ITSELF : undefined;
}
