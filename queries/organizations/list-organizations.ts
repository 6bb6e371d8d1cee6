import type { OrganizationDirectoryRow } from '../../projections/organizations/organization-directory.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

/** Runs in the installation's scope: every organization, at most `most`. */
export const listOrganizations: Query<{ most: number }, Pick<OrganizationDirectoryRow, 'id' | 'slug'>[]> = (
  reads,
  { most },
) => reads.rows('select id, slug from organization_directory where tenant_id = $1 order by slug limit $2', [most]);
