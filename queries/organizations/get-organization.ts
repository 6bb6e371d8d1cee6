import type { OrganizationRow } from '../../projections/organizations/organizations.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

/** Runs in the organization's scope. */
export const getOrganization: Query<void, OrganizationRow> = async (reads) =>
  (await reads.one<OrganizationRow>('select * from organizations where tenant_id = $1')) ?? notFound();
