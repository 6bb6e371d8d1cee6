import { z } from 'zod';
import { SamlRefused } from '../../../../contexts/sso/saml/refused.ts';
import { logOutForProvider, type ProviderLogoutDependencies } from '../../../../contexts/sso/saml/provider-logout.ts';
import type { ReceivedLogout } from '../../../../contexts/sso/saml/received-logout.ts';
import { signedOutAddress } from '../../../../contexts/sso/saml/single-logout.ts';
import { FailureError, notFound, unauthenticated } from '../../../../platform/kernel/failure.ts';
import { asTenantId, uuid, type TenantId } from '../../../../platform/kernel/ids.ts';
import type { Actor } from '../../../../platform/kernel/actor.ts';
import { openAccess } from '../../access.ts';
import { actorOf } from '../../principal.ts';
import { redirect } from '../../redirect.ts';
import { routeWith, type RouteGroup } from '../../route.ts';

const route = routeWith<ProviderLogoutDependencies>();

const tenantQuery = z.object({ tenant_id: uuid() }).catchall(z.string());
const relayState = z.string().max(1_024).optional();
const DESCRIPTION =
  'Ends the sessions that a signed LogoutRequest of the provider names, and redirects to the provider with the response. A refused request of the provider is answered with the status `RequestDenied`. After a logout that began here, redirects to the sign-in page.';

async function logOut(
  services: ProviderLogoutDependencies,
  tenantId: TenantId,
  received: ReceivedLogout,
  actor: Actor,
): Promise<string> {
  try {
    const address = await logOutForProvider(services, tenantId, received, actor);
    if (address === undefined) throw new FailureError(notFound());
    return address;
  } catch (error) {
    if (!(error instanceof SamlRefused)) throw error;
    throw new FailureError(unauthenticated('logout_refused', `logout refused: ${error.reason}`));
  }
}

/** SAML single logout (Profiles §4.4), in the bindings that the metadata of the service provider states. */
export const samlLogoutRoutes: RouteGroup<ProviderLogoutDependencies> = {
  area: 'auth',
  routes: [
    route({
      method: 'GET',
      path: '/api/v1/auth/saml/logout',
      access: openAccess('sso'),
      facesBrowsers: 'sign-out',
      summary: 'Receive a SAML logout message by redirect',
      operation: 'receiveSamlLogoutRedirect',
      refuses: ['not_found', 'logout_refused'],
      description: DESCRIPTION,
      query: tenantQuery.extend({
        SAMLRequest: z.string().optional(),
        SAMLResponse: z.string().optional(),
        RelayState: relayState,
      }),
      status: 302,
      response: { media: 'text/plain' },
      handle: async ({ query, services, request, reply }) => {
        const tenantId = asTenantId(query.tenant_id);
        if (query.SAMLRequest === undefined) return redirect(reply, 302, signedOutAddress(tenantId));
        const raw = request.raw.url ?? '';
        const received: ReceivedLogout = {
          binding: 'redirect',
          query: raw.slice(raw.indexOf('?') + 1),
          relayState: query.RelayState,
        };
        const actor = actorOf(undefined, request);
        return redirect(reply, 302, await logOut(services, tenantId, received, actor));
      },
    }),
    route({
      method: 'POST',
      path: '/api/v1/auth/saml/logout',
      access: openAccess('sso'),
      facesBrowsers: 'sign-out',
      summary: 'Receive a SAML logout message by form',
      operation: 'receiveSamlLogoutForm',
      refuses: ['not_found', 'logout_refused'],
      description: DESCRIPTION,
      consumes: 'form',
      query: tenantQuery,
      body: z.object({
        SAMLRequest: z.string().optional(),
        SAMLResponse: z.string().optional(),
        RelayState: relayState,
      }),
      status: 303,
      response: { media: 'text/plain' },
      handle: async ({ query, body, services, request, reply }) => {
        const tenantId = asTenantId(query.tenant_id);
        if (body.SAMLRequest === undefined) return redirect(reply, 303, signedOutAddress(tenantId));
        const received: ReceivedLogout = {
          binding: 'post',
          base64: body.SAMLRequest,
          relayState: body.RelayState,
        };
        const actor = actorOf(undefined, request);
        return redirect(reply, 303, await logOut(services, tenantId, received, actor));
      },
    }),
  ],
};
