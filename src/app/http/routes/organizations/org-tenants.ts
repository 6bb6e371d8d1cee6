import { z } from 'zod';
import {
  managedTenant,
  managedTenantView,
  pageOfTenants,
  type ManagedTenantView,
} from '../../../../../queries/organizations/managed-tenants.ts';
import { organization, organizationStream } from '../../../../contexts/organizations/domain/organization.ts';
import type { AggregateLoader } from '../../../../platform/execution/aggregate-loader.ts';
import { asTenantId, INSTALLATION } from '../../../../platform/kernel/ids.ts';
import { orgReader } from '../../access.ts';
import { pageQuery, paginatedView, toPage } from '../../list-query.ts';
import { routeWith, type RouteGroup } from '../../route.ts';

export interface OrgTenantsRouteDependencies {
  readonly loader: AggregateLoader;
}

const route = routeWith<OrgTenantsRouteDependencies>();

/** Tenants whose figures are computed at once: each takes a connection of the pool. */
const WAVE = 4;

export const orgTenantRoutes: RouteGroup<OrgTenantsRouteDependencies> = {
  area: 'org',
  routes: [
    route({
      method: 'GET',
      path: '/api/v1/org/tenants',
      access: orgReader,
      summary: 'List the tenants of the organization',
      description: 'By name, each with its open alerts, stale devices and the end of its license.',
      query: z.object({ ...pageQuery, search: z.string().max(200).optional().describe('Part of the name or slug') }),
      response: z.object({ tenants: z.array(managedTenantView), ...paginatedView }),
      handle: async ({ ask, query, services: { loader }, principal }) => {
        // Membership decides what is shown, so it comes from the log, not from a table that may be late.
        const owner = await loader.load(organization, organizationStream(principal.tenantId));
        const page = toPage(query);
        const asked = { ...page, ids: [...owner.tenants], search: query.search };
        const { rows, total } = await ask(pageOfTenants, asked, INSTALLATION);
        const tenants: ManagedTenantView[] = [];
        for (let from = 0; from < rows.length; from += WAVE) {
          const wave = rows.slice(from, from + WAVE);
          tenants.push(...(await Promise.all(wave.map((row) => ask(managedTenant, row, asTenantId(row.id))))));
        }
        return { tenants, total, ...page, totalPages: Math.ceil(total / page.pageSize) };
      },
    }),
  ],
};
