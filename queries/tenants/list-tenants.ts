import type { Query } from '../../src/platform/kernel/query.ts';
import type { TenantDirectoryRow } from '../../projections/tenants/tenant-directory.ts';

/** Runs in the installation's scope: every tenant, at most `most`. */
export const listTenants: Query<{ most: number }, TenantDirectoryRow[]> = (reads, { most }) =>
  reads.rows<TenantDirectoryRow>(
    'select id, name, slug from tenant_directory where tenant_id = $1 order by slug limit $2',
    [most],
  );
