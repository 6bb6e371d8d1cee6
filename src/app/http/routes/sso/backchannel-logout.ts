import { z } from 'zod';
import { logOutByToken, type BackchannelLogoutDependencies } from '../../../../contexts/sso/backchannel-logout.ts';
import { OIDC_BACKCHANNEL_LOGOUT, ORG_OIDC_BACKCHANNEL_LOGOUT } from '../../../../contexts/sso/domain/addresses.ts';
import { SsoRefused } from '../../../../contexts/identity/sso-sign-in.ts';
import { LogoutRefused } from '../../../../contexts/sso/logout-token.ts';
import { tenantOidcConfig, type FindConfig } from '../../../../contexts/sso/oidc-sign-in.ts';
import { enabledOrgConfig, type OrgOidcDependencies } from '../../../../contexts/sso/org-oidc.ts';
import { OAuthError } from '../../../../contexts/scim/grants.ts';
import { asTenantId, uuid } from '../../../../platform/kernel/ids.ts';
import { openAccess } from '../../access.ts';
import { oauthErrorView, oauthRefusal, sendOAuthError } from '../../oauth-errors.ts';
import { actorOf } from '../../principal.ts';
import { routeWith, type HandlerContext, type RouteGroup } from '../../route.ts';

export interface BackchannelLogoutRouteDependencies extends BackchannelLogoutDependencies, OrgOidcDependencies {}

const route = routeWith<BackchannelLogoutRouteDependencies>();

/** A token has a handful of claims; one with a certificate chain in its header still fits. */
const TOKEN_CHARACTERS = 16_384;
const form = z.object({ logout_token: z.string().min(1).max(TOKEN_CHARACTERS) });
const DESCRIPTION =
  'OpenID Connect Back-Channel Logout 1.0, called by the provider. Ends all sessions of the person (`sub`) or of one session (`sid`) that the signed logout token names, before it responds. A token counts once, for at most ten minutes. Whatever is wrong with it is 400 with `error` and `error_description`, as §2.8 has it.';

type Received = HandlerContext<unknown, unknown, z.output<typeof form>, undefined, BackchannelLogoutRouteDependencies>;

/** §2.8: 200 without a body, or 400 with `error`. The response tells a stranger only what the token itself says. */
async function receive(call: Received, owner: string, find: FindConfig): Promise<unknown> {
  const { services, request, reply, body, waitFor } = call;
  const actor = actorOf(undefined, request);
  try {
    const received = { owner: asTenantId(owner), token: body.logout_token, actor };
    const position = await logOutByToken(services, find, received);
    if (position !== undefined) await waitFor(['live-state'], position);
    reply.type('text/plain');
    return '';
  } catch (error) {
    return sendOAuthError(reply, oauthErrorOf(error));
  }
}

function oauthErrorOf(error: unknown): OAuthError {
  if (error instanceof LogoutRefused) return new OAuthError('invalid_request', error.message);
  if (error instanceof SsoRefused)
    return new OAuthError('temporarily_unavailable', 'the keys of the issuer cannot be read');
  throw error;
}

/** Logouts that an OpenID Connect provider reports from server to server, without a browser. */
export const backchannelLogoutRoutes: RouteGroup<BackchannelLogoutRouteDependencies> = {
  area: 'auth',
  routes: [
    route({
      method: 'POST',
      path: OIDC_BACKCHANNEL_LOGOUT,
      access: openAccess('sso'),
      summary: "Receive a logout token of the tenant's provider",
      operation: 'receiveLogoutToken',
      description: DESCRIPTION,
      consumes: 'form',
      query: z.object({ tenant_id: uuid() }),
      body: form,
      response: { media: 'text/plain' },
      refusal: oauthRefusal,
      refusalView: oauthErrorView,
      handle: (call) => receive(call, call.query.tenant_id, tenantOidcConfig(call.services)),
    }),
    route({
      method: 'POST',
      path: ORG_OIDC_BACKCHANNEL_LOGOUT,
      access: openAccess('sso'),
      summary: "Receive a logout token of the organization's provider",
      operation: 'receiveOrgLogoutToken',
      description: DESCRIPTION,
      consumes: 'form',
      query: z.object({ organization_id: uuid() }),
      body: form,
      response: { media: 'text/plain' },
      refusal: oauthRefusal,
      refusalView: oauthErrorView,
      handle: (call) => receive(call, call.query.organization_id, (owner) => enabledOrgConfig(call.services, owner)),
    }),
  ],
};
