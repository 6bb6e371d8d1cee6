import type { OrgDomainRow } from '../../projections/organizations/org-domains.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import { toProvedDomain, type ProvedDomain } from './org-domain-view.ts';

const SQL =
  'select domain, organization_id, proof, verified_at from org_domains where tenant_id = $1 and organization_id = $2 order by domain';

/** Runs in the installation's scope: the proved domains of one organization, by name. */
export const listOrgDomains: Query<
  { organizationId: string },
  { domains: readonly ProvedDomain[]; total: number }
> = async (reads, { organizationId }) => {
  const rows = await reads.rows<OrgDomainRow>(SQL, [organizationId]);
  return { domains: rows.map(toProvedDomain), total: rows.length };
};
