import { z } from 'zod';
import type { ListedTenant } from '../../projections/tenants/tenant-directory.ts';
import type { TenantRow } from '../../projections/tenants/tenants.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import { SELECT_DEVICES } from '../devices/device-view.ts';

/** What an organization sees of a tenant in its list (OP-345). */
export const managedTenantView = z
  .object({
    id: z.uuid(),
    name: z.string(),
    slug: z.string(),
    externalBaseUrl: z.string(),
    licenseExpiresAt: z.iso.datetime().nullable(),
    openAlerts: z.int(),
    openCriticalAlerts: z.int(),
    devices: z.int(),
    staleDevices: z.int(),
  })
  .meta({ title: 'ManagedTenant' });
export type ManagedTenantView = z.output<typeof managedTenantView>;

interface Page {
  readonly ids: readonly string[];
  readonly search: string | undefined;
  readonly page: number;
  readonly pageSize: number;
}

const CHOSEN = `
  from tenant_directory
 where tenant_id = $1 and id = any($2::uuid[])
   and ($3::text is null or position(lower($3) in lower(name)) > 0 or position(lower($3) in lower(slug)) > 0)`;

/** Runs in the installation's scope: one page of these tenants, by name. */
export const pageOfTenants: Query<Page, { rows: ListedTenant[]; total: number }> = async (
  reads,
  { ids, search, page, pageSize },
) => {
  const chosen = [ids, search ?? null];
  const [rows, count] = await Promise.all([
    reads.rows<ListedTenant>(`select id, name, slug ${CHOSEN} order by lower(name), id limit $4 offset $5`, [
      ...chosen,
      pageSize,
      (page - 1) * pageSize,
    ]),
    reads.one<{ total: number }>(`select count(*)::int as total ${CHOSEN}`, chosen),
  ]);
  return { rows, total: count?.total ?? 0 };
};

type Figures = Pick<TenantRow, 'external_base_url' | 'license'> & {
  readonly open: number;
  readonly critical: number;
  readonly devices: number;
  readonly stale: number;
};

const FIGURES = `
  select t.external_base_url, t.license, a.open, a.critical, d.devices, d.stale
    from tenants t,
         (select count(*)::int as open, (count(*) filter (where severity = 'critical'))::int as critical
            from alerts where tenant_id = $1 and status = 'open') a,
         (select (count(*) filter (where status_now not in ('revoked', 'wiped')))::int as devices,
                 (count(*) filter (where status_now = 'stale'))::int as stale
            from ${SELECT_DEVICES} m) d
   where t.tenant_id = $1`;

/** Runs in the scope of the tenant that `row` names. */
export const managedTenant: Query<ListedTenant, ManagedTenantView> = async (reads, { id, name, slug }) => {
  const figures = await reads.one<Figures>(FIGURES);
  return {
    id,
    name,
    slug,
    externalBaseUrl: figures?.external_base_url ?? '',
    licenseExpiresAt: figures?.license?.expiresAt ?? null,
    openAlerts: figures?.open ?? 0,
    openCriticalAlerts: figures?.critical ?? 0,
    devices: figures?.devices ?? 0,
    staleDevices: figures?.stale ?? 0,
  };
};
