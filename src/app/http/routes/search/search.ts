import { z } from 'zod';
import { paginatedView, pageQuery, toPage } from '../../list-query.ts';
import { exportedHitView, exportHits } from '../../../../../queries/search/export-hits.ts';
import { search, searchedKinds, searchView } from '../../../../../queries/search/search.ts';
import { admin } from '../../access.ts';
import { asCsv, asJsonArray } from '../../exported-rows.ts';
import { sendExport } from '../../send-export.ts';
import { routeWith, type RouteGroup } from '../../route.ts';
import type { TenantReads } from '../../../../platform/kernel/query.ts';
import type { TenantId } from '../../../../platform/kernel/ids.ts';
import type { Limits } from '../../../config/limits.ts';

export interface SearchRouteDependencies {
  reads(tenantId: TenantId): TenantReads;
  readonly limits: Limits;
}

const route = routeWith<SearchRouteDependencies>();

const base = '/api/v1/admin/search';
const asked = {
  q: z
    .string()
    .max(200)
    .transform((text) => text.trim())
    .pipe(z.string().min(2, 'must have at least 2 characters')),
  type: z
    .enum(['all', ...searchedKinds])
    .optional()
    .default('all'),
};
const COLUMNS = ['type', 'id', 'label', 'detail', 'domain', 'status', 'severity', 'createdAt'];

/** One search over users, endpoints and alerts (interface, "Search and filters"). */
export const searchRoutes: RouteGroup<SearchRouteDependencies> = {
  area: 'search',
  routes: [
    route({
      method: 'GET',
      path: base,
      access: admin('search:read'),
      summary: 'Search users, endpoints and alerts',
      operation: 'search',
      description:
        'Finds entries that contain `q` (2 to 200 characters), in any case: e-mail address and name of employees; host, address and title of endpoints; text, host and person of alerts. Alerts are also found by the words of `q`, in any form and order. Grouped by kind, newest first. A page holds up to `pageSize` of each kind, so `totalPages` is that of the kind with the most; `total` is the sum. Totals count up to 10,000 of a kind.',
      query: z.object({ ...pageQuery, ...asked }),
      response: z.object({ ...searchView, ...paginatedView }),
      handle: ({ ask, query: { q, type, ...page } }) => ask(search, { q, type, ...toPage(page) }),
    }),
    route({
      method: 'GET',
      path: `${base}/export`,
      access: admin('search:export'),
      summary: 'Export search results',
      sends: ['Content-Disposition'],
      description: 'A file in CSV or JSON, newest first, at most 10,000 rows.',
      query: z.object({ ...asked, format: z.enum(['csv', 'json']).optional().default('csv') }),
      response: { media: 'text/csv' },
      otherMedia: { 'application/json': z.array(exportedHitView) },
      handle: async ({ query: { q, type, format }, services, principal, reply }) => {
        const rows = exportHits(services.reads(principal.tenantId), { q, type });
        const file = { name: `search.${format}`, type: format === 'csv' ? 'text/csv' : 'application/json' };
        return sendExport(reply, services.limits.exports, principal.tenantId, file, () =>
          format === 'csv' ? asCsv(rows, COLUMNS) : asJsonArray(rows),
        );
      },
    }),
  ],
};
