import { z } from 'zod';
import { classifyEndpoint } from '../../../../../commands/discovery/classify-endpoint.ts';
import { endpointStats, endpointStatsView } from '../../../../../queries/discovery/endpoint-stats.ts';
import { endpointView } from '../../../../../queries/discovery/endpoint-view.ts';
import { endpointHost, getEndpoint } from '../../../../../queries/discovery/get-endpoint.ts';
import { endpointOrder, listEndpoints } from '../../../../../queries/discovery/list-endpoints.ts';
import { endpointUserOrder, listEndpointUsers } from '../../../../../queries/discovery/seen-users.ts';
import { classifications } from '../../../../contexts/discovery/domain/vocabulary.ts';
import { uuid } from '../../../../platform/kernel/ids.ts';
import { admin } from '../../access.ts';
import { keysetQuery, keysetView, withNextMark } from '../../keyset-query.ts';
import { toPage } from '../../list-query.ts';
import { route, type RouteGroup } from '../../route.ts';
import { seenUsersRoute } from './seen-users-route.ts';

const base = '/api/v1/admin/endpoints';
const params = z.object({ endpointID: uuid() });

/** Hosts that browsers visited (interface, "Discovered endpoints"). */
export const endpointRoutes: RouteGroup = {
  area: 'discovered-endpoints',
  routes: [
    route({
      method: 'GET',
      path: base,
      access: admin('endpoints:read'),
      summary: 'List discovered endpoints',
      description: 'Latest discovery first. A search finds the latest 10,000: `totalIsLowerBound` is then true.',
      query: z.object({
        ...keysetQuery(endpointOrder),
        classification: z.enum(classifications).optional(),
        search: z
          .string()
          .max(200)
          .transform((text) => text.trim() || undefined)
          .optional(),
      }),
      response: z.object({ endpoints: z.array(endpointView), ...keysetView }),
      handle: async ({ ask, query }) => {
        const { classification, search } = query;
        return withNextMark(endpointOrder, await ask(listEndpoints, { ...toPage(query), classification, search }));
      },
    }),
    route({
      method: 'GET',
      path: `${base}/stats`,
      access: admin('endpoints:read'),
      summary: 'Count endpoints by classification',
      description: 'Also counts new and malicious endpoints.',
      response: endpointStatsView,
      handle: ({ ask }) => ask(endpointStats, undefined),
    }),
    route({
      method: 'GET',
      path: `${base}/{endpointID}`,
      access: admin('endpoints:read'),
      summary: 'Get an endpoint with its technology fingerprints',
      params,
      response: endpointView,
      handle: ({ ask, params: { endpointID } }) => ask(getEndpoint, { endpointId: endpointID }),
    }),
    seenUsersRoute({
      base,
      parameter: 'endpointID',
      summary: 'List employees who visited an endpoint',
      order: endpointUserOrder,
      list: listEndpointUsers,
    }),
    route({
      method: 'PUT',
      path: `${base}/{endpointID}/classification`,
      access: admin('endpoints:write'),
      summary: 'Classify an endpoint',
      operation: 'classifyEndpoint',
      params,
      body: z.object({ classification: z.enum(classifications), reason: z.string().max(4_000).nullish() }),
      response: endpointView,
      handle: async ({ run, ask, params: { endpointID: endpointId }, body }) => {
        const domain = await ask(endpointHost, { endpointId });
        await run(classifyEndpoint, {
          endpointId,
          domain,
          classification: body.classification,
          reason: body.reason ?? null,
        });
        return ask(getEndpoint, { endpointId });
      },
    }),
  ],
};
