import { z } from 'zod';
import { overrideMfa } from '../../../../../commands/discovery/override-mfa.ts';
import { authEndpointStats, authEndpointStatsView } from '../../../../../queries/discovery/auth-endpoint-stats.ts';
import { authEndpointView } from '../../../../../queries/discovery/auth-endpoint-view.ts';
import { authEndpointHost, getAuthEndpoint } from '../../../../../queries/discovery/get-auth-endpoint.ts';
import { authEndpointOrder, listAuthEndpoints } from '../../../../../queries/discovery/list-auth-endpoints.ts';
import { listRelyingParties, relyingPartyView } from '../../../../../queries/discovery/relying-parties.ts';
import { authEndpointUserOrder, listAuthEndpointUsers } from '../../../../../queries/discovery/seen-users.ts';
import { mfaOverrideValues } from '../../../../contexts/discovery/domain/vocabulary.ts';
import { uuid } from '../../../../platform/kernel/ids.ts';
import { admin } from '../../access.ts';
import { keysetQuery, keysetView, withNextMark } from '../../keyset-query.ts';
import { pageQueryOf, paginatedView, toPage } from '../../list-query.ts';
import { route, type RouteGroup } from '../../route.ts';
import { seenUsersRoute } from './seen-users-route.ts';

const base = '/api/v1/admin/auth-endpoints';
const params = z.object({ authEndpointID: uuid() });

/** Hosts at which employees sign in (interface, "Authentication endpoints"). */
export const authEndpointRoutes: RouteGroup = {
  area: 'discovered-endpoints',
  routes: [
    route({
      method: 'GET',
      path: base,
      access: admin('endpoints:read'),
      summary: 'List authentication endpoints',
      description: 'With their identity providers, latest discovery first.',
      query: z.object(keysetQuery(authEndpointOrder)),
      response: z.object({ authEndpoints: z.array(authEndpointView), ...keysetView }),
      handle: async ({ ask, query }) => withNextMark(authEndpointOrder, await ask(listAuthEndpoints, toPage(query))),
    }),
    route({
      method: 'GET',
      path: `${base}/stats`,
      access: admin('endpoints:read'),
      summary: 'Get statistics of authentication endpoints',
      description: 'MFA adoption, identity providers and sign-in methods.',
      response: authEndpointStatsView,
      handle: ({ ask }) => ask(authEndpointStats, undefined),
    }),
    route({
      method: 'GET',
      path: `${base}/{authEndpointID}`,
      access: admin('endpoints:read'),
      summary: 'Get an authentication endpoint',
      params,
      response: authEndpointView,
      handle: ({ ask, params: { authEndpointID } }) => ask(getAuthEndpoint, { authEndpointId: authEndpointID }),
    }),
    seenUsersRoute({
      base,
      parameter: 'authEndpointID',
      summary: 'List employees who signed in at an authentication endpoint',
      order: authEndpointUserOrder,
      list: listAuthEndpointUsers,
    }),
    route({
      method: 'GET',
      path: `${base}/{authEndpointID}/relying-parties`,
      access: admin('endpoints:read'),
      summary: 'List the relying parties of an authentication endpoint',
      description: 'The sites that employees sign in to through it. Latest first, 1,000 on a page.',
      params,
      query: z.object(pageQueryOf({ usual: 1_000, max: 1_000 })),
      response: z.object({ relyingParties: z.array(relyingPartyView), ...paginatedView }),
      handle: ({ ask, params: { authEndpointID }, query }) =>
        ask(listRelyingParties, { authEndpointId: authEndpointID, ...toPage(query) }),
    }),
    route({
      method: 'PUT',
      path: `${base}/{authEndpointID}/mfa-override`,
      access: admin('endpoints:write'),
      summary: 'Override whether an authentication endpoint uses MFA',
      operation: 'overrideAuthEndpointMfa',
      description: 'null removes the override: the value observed by browsers applies again.',
      params,
      body: z.object({ mfaOverride: z.enum(mfaOverrideValues).nullable() }),
      response: authEndpointView,
      handle: async ({ run, ask, params: { authEndpointID: authEndpointId }, body }) => {
        const domain = await ask(authEndpointHost, { authEndpointId });
        await run(overrideMfa, { authEndpointId, domain, mfaOverride: body.mfaOverride });
        return ask(getAuthEndpoint, { authEndpointId });
      },
    }),
  ],
};
