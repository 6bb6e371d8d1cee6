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

/** Domains that employees use, and their risk (interface, "Discovered endpoints"). */
export const attackSurfaceRoutes: RouteGroup = {
  area: 'discovered-endpoints',
  routes: [
    route({
      method: 'GET',
      path: base,
      access: admin('endpoints:read'),
      summary: 'List registrable domains by risk',
      description: 'Riskiest first, at most 200.',
      response: z.object({ domains: z.array(surfaceView), total: z.int() }),
      handle: ({ ask }) => ask(attackSurface, undefined),
    }),
    route({
      method: 'GET',
      path: `${base}/domain/{domain}`,
      access: admin('endpoints:read'),
      summary: 'Get a registrable domain',
      description: 'Its risk by component, its subdomains and endpoints (at most 500 hosts).',
      params: z.object({ domain: hostField() }),
      response: domainSurfaceView,
      handle: ({ ask, params }) => ask(domainSurface, params),
    }),
    route({
      method: 'GET',
      path: `${base}/subdomain/{subdomain}`,
      access: admin('endpoints:read'),
      summary: 'Get a host',
      description: 'Its sign-ins, employees (at most 1,000) and technologies.',
      params: z.object({ subdomain: hostField() }),
      response: subdomainSurfaceView,
      handle: ({ ask, params }) => ask(subdomainSurface, params),
    }),
  ],
};
