import { z } from 'zod';
import {
  alertTypeOptions,
  deviceOptions,
  extensionOptions,
  filterOptionsView,
  groupOptions,
  technologyOptions,
  userOptions,
  type FilterOptions,
} from '../../../../../queries/search/filter-options.ts';
import type { Page, Query } from '../../../../platform/kernel/query.ts';
import { admin } from '../../access.ts';
import { pageQueryOf, toPage } from '../../list-query.ts';
import { route, type AnyRoute, type RouteGroup } from '../../route.ts';

const options = (of: string, summary: string, query: Query<Page, FilterOptions>): AnyRoute =>
  route({
    method: 'GET',
    path: `/api/v1/admin/filters/${of}`,
    access: admin('overview:read'),
    summary,
    description: 'Highest count first, 1,000 on a page.',
    query: z.object(pageQueryOf({ usual: 1_000, max: 1_000 })),
    response: filterOptionsView,
    handle: ({ ask, query: asked }) => ask(query, toPage(asked)),
  });

/** The values of filters, with the count of each (interface, "Search and filters"). */
export const filterRoutes: RouteGroup = {
  area: 'search',
  routes: [
    options('extensions', 'List browser extensions with the number of their browsers', extensionOptions),
    options('users', 'List employees with the number of their events', userOptions),
    options('devices', 'List devices with the number of their events', deviceOptions),
    options('alert-types', 'List alert types with the number of their alerts', alertTypeOptions),
    options('technologies', 'List technologies with the number of their hosts', technologyOptions),
    options('groups', 'List groups with the number of their members', groupOptions),
  ],
};
