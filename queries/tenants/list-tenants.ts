import type { Query } from '../../src/platform/kernel/query.ts';
import type { ListedTenant } from '../../projections/tenants/tenant-directory.ts';

/** Runs in the installation's scope: every tenant, at most `most`. */
export const listTenants: Query<{ most: number }, ListedTenant[]> = (reads, { most }) =>
  reads.rows<ListedTenant>('select id, name, slug from tenant_directory where tenant_id = $1 order by slug limit $2', [
    most,
  ]);
