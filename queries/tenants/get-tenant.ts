import type { TenantRow } from '../../projections/tenants/tenants.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

/** The tenant of the current scope. */
export const getTenant: Query<void, TenantRow> = async (reads) =>
  (await reads.one<TenantRow>('select * from tenants where tenant_id = $1')) ?? notFound();
