import { z } from 'zod';
import {
  attackSurface,
  domainSurface,
  domainSurfaceView,
  subdomainSurface,
  subdomainSurfaceView,
  surfaceOrder,
  surfaceView,
} from '../../../../../queries/discovery/attack-surface.ts';
import { hostField } from '../../../../platform/web-addresses/host-field.ts';
import { admin } from '../../access.ts';
import { keysetQuery, keysetView, withNextMark } from '../../keyset-query.ts';
import { pageQueryOf, toPage } from '../../list-query.ts';
import { route, type RouteGroup } from '../../route.ts';

const base = '/api/v1/admin/attack-surface';

/** Domains that employees use, and their risk (interface, "Discovered endpoints"). */
export const attackSurfaceRoutes: RouteGroup = {
  area: 'discovered-endpoints',
  routes: [
    route({
      method: 'GET',
      path: base,
      access: admin('endpoints:read'),
      summary: 'List registrable domains by risk',
      description: 'Riskiest first, 200 on a page.',
      query: z.object(keysetQuery(surfaceOrder, { usual: 200, max: 200 })),
      response: z.object({ domains: z.array(surfaceView), ...keysetView }),
      handle: async ({ ask, query }) => withNextMark(surfaceOrder, await ask(attackSurface, toPage(query))),
    }),
    route({
      method: 'GET',
      path: `${base}/domain/{domain}`,
      access: admin('endpoints:read'),
      summary: 'Get a registrable domain',
      description:
        'Its risk by component, and a page of its hosts by name (500 by default): subdomains and endpoints. `endpointCount` counts all hosts.',
      params: z.object({ domain: hostField() }),
      query: z.object(pageQueryOf({ usual: 500, max: 500 })),
      response: domainSurfaceView,
      handle: ({ ask, params, query }) => ask(domainSurface, { ...params, ...toPage(query) }),
    }),
    route({
      method: 'GET',
      path: `${base}/subdomain/{subdomain}`,
      access: admin('endpoints:read'),
      summary: 'Get a host',
      description:
        'Its sign-ins, employees (the latest 1,000; `/endpoints/{endpointID}/users` lists all) and technologies.',
      params: z.object({ subdomain: hostField() }),
      response: subdomainSurfaceView,
      handle: ({ ask, params }) => ask(subdomainSurface, params),
    }),
  ],
};
