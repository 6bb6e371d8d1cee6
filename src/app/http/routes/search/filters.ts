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
import type { Query } from '../../../../platform/kernel/query.ts';
import { admin } from '../../access.ts';
import { route, type AnyRoute, type RouteGroup } from '../../route.ts';

const options = (of: string, summary: string, query: Query<void, FilterOptions>): AnyRoute =>
  route({
    method: 'GET',
    path: `/api/v1/admin/filters/${of}`,
    access: admin('overview:read'),
    summary,
    response: filterOptionsView,
    handle: ({ ask }) => ask(query, undefined),
  });

/** What a filter can be set to, with how much there is of each (interface, "Search and filters"). */
export const filterRoutes: RouteGroup = {
  area: 'search',
  routes: [
    options('extensions', 'Browser extensions, by the browsers in which they are installed', extensionOptions),
    options('users', 'Employees, by what their browsers reported', userOptions),
    options('devices', 'Devices, by what they reported', deviceOptions),
    options('alert-types', 'Types of alerts, by how many were raised', alertTypeOptions),
    options('technologies', 'Technologies, by the hosts on which they were found', technologyOptions),
    options('groups', 'Groups, by their members', groupOptions),
  ],
};
