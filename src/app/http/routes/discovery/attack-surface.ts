import { z } from 'zod';
import {
  attackSurface,
  domainSurface,
  domainSurfaceView,
  subdomainSurface,
  subdomainSurfaceView,
  surfaceView,
} from '../../../../../queries/discovery/attack-surface.ts';
import { hostField } from '../../../../platform/web-addresses/host-field.ts';
import { admin } from '../../access.ts';
import { route, type RouteGroup } from '../../route.ts';

const base = '/api/v1/admin/attack-surface';

/** Where employees are, by domain, and how dangerous it is there (interface, "Discovered endpoints"). */
export const attackSurfaceRoutes: RouteGroup = {
  area: 'discovered-endpoints',
  routes: [
    route({
      method: 'GET',
      path: base,
      access: admin('endpoints:read'),
      summary: 'Registrable domains, the riskiest first',
      response: z.object({ domains: z.array(surfaceView), total: z.int() }),
      handle: ({ ask }) => ask(attackSurface, undefined),
    }),
    route({
      method: 'GET',
      path: `${base}/domain/{domain}`,
      access: admin('endpoints:read'),
      summary: 'One registrable domain: its risk in parts, its subdomains and endpoints',
      params: z.object({ domain: hostField() }),
      response: domainSurfaceView,
      handle: ({ ask, params }) => ask(domainSurface, params),
    }),
    route({
      method: 'GET',
      path: `${base}/subdomain/{subdomain}`,
      access: admin('endpoints:read'),
      summary: 'One host: sign-ins, people and technologies',
      params: z.object({ subdomain: hostField() }),
      response: subdomainSurfaceView,
      handle: ({ ask, params }) => ask(subdomainSurface, params),
    }),
  ],
};
