import { z } from 'zod';
import { endSession } from '../../../../../commands/identity/end-session.ts';
import { findOrgSso } from '../../../../../queries/organizations/find-org-sso.ts';
import { ORG_OIDC_INITIATE, ORG_OIDC_LOGOUT } from '../../../../contexts/sso/domain/addresses.ts';
import { session, sessionStream } from '../../../../contexts/identity/domain/session.ts';
import {
  isSecure,
  logoutAddress,
  ownIdToken,
  type OidcSignInDependencies,
} from '../../../../contexts/sso/oidc-sign-in.ts';
import { sameIssuer } from '../../../../contexts/sso/openid-refusals.ts';
import { enabledOrgConfig, type OrgOidcDependencies } from '../../../../contexts/sso/org-oidc.ts';
import { beginningAddress, orgRefusalAddress } from '../../../../contexts/sso/page-return.ts';
import { asTenantId, INSTALLATION } from '../../../../platform/kernel/ids.ts';
import { openAccess, orgReader } from '../../access.ts';
import { clearLogoutHint, readLogoutHint } from '../../logout-hint-cookie.ts';
import type { RecordedSsoRefusals } from '../../../../contexts/sso/recorded-refusals.ts';
import { actorOf } from '../../principal.ts';
import { redirect } from '../../redirect.ts';
import { routeWith, type HandlerContext, type RouteGroup } from '../../route.ts';
import { initiation } from '../sso/sso-initiate.ts';
import type { RefreshTokens } from '../../../../contexts/identity/refresh-tokens.ts';

export interface OrgSsoPortalRouteDependencies extends OidcSignInDependencies, OrgOidcDependencies {
  readonly refreshTokens: RefreshTokens;
  readonly ssoRefusals: RecordedSsoRefusals;
}

const route = routeWith<OrgSsoPortalRouteDependencies>();

const inOrganization = { slug: z.string().trim().toLowerCase().min(1).max(253) };
const DESCRIPTION =
  'The `initiate_login_uri` of OpenID Connect. Redirects to the sign-in page, which goes on to the provider. An `iss` must be the issuer of the enabled configuration.';

interface Initiating {
  readonly slug: string;
  readonly iss?: string | undefined;
  readonly login_hint?: string | undefined;
}
type Asking = Pick<
  HandlerContext<unknown, unknown, unknown, unknown, OrgSsoPortalRouteDependencies>,
  'ask' | 'services'
>;

/** Where the browser goes on: to the sign-in page, which starts a sign-in or shows why it cannot. */
async function beginning({ ask, services }: Asking, { slug, iss, login_hint: hint }: Initiating): Promise<string> {
  const known = await ask(findOrgSso, { slug }, INSTALLATION);
  const found = known && (await enabledOrgConfig(services, asTenantId(known.id)));
  const isItsIssuer = found && (iss === undefined || sameIssuer(iss, found.config.issuerUrl));
  return isItsIssuer ? beginningAddress({ org_sso_start: slug }, hint) : orgRefusalAddress('sso_not_configured');
}

/** Sign-ins that an organization's provider starts, and the logout there. */
export const orgSsoPortalRoutes: RouteGroup<OrgSsoPortalRouteDependencies> = {
  area: 'org',
  routes: [
    route({
      method: 'GET',
      path: ORG_OIDC_INITIATE,
      access: openAccess('sso'),
      facesBrowsers: true,
      summary: 'Start a sign-in from the portal of the provider',
      operation: 'startOrgPortalSignIn',
      description: DESCRIPTION,
      query: z.object({ ...inOrganization, ...initiation }),
      status: 302,
      response: { media: 'text/plain' },
      handle: async (call) => redirect(call.reply, 302, await beginning(call, { ...call.query })),
    }),
    route({
      method: 'POST',
      path: ORG_OIDC_INITIATE,
      access: openAccess('sso'),
      facesBrowsers: true,
      summary: 'Start a sign-in from the portal of the provider, by form',
      operation: 'startOrgPortalSignInByForm',
      description: DESCRIPTION,
      consumes: 'form',
      query: z.object(inOrganization),
      body: z.object(initiation),
      status: 303,
      response: { media: 'text/plain' },
      handle: async (call) => redirect(call.reply, 303, await beginning(call, { ...call.query, ...call.body })),
    }),
    route({
      method: 'POST',
      path: ORG_OIDC_LOGOUT,
      access: orgReader,
      summary: 'End the session, and get the logout URL of the provider',
      operation: 'signOutOfOrg',
      sends: ['Set-Cookie'],
      description:
        'A browser that navigates to `logoutUrl` also signs out of the provider, and returns to the sign-in page if `postLogoutRedirectUri` is registered there.',
      response: z.object({ success: z.literal(true), logoutUrl: z.string().nullable() }),
      handle: async ({ services, request, reply, run, principal: { tenantId, sessionId } }) => {
        const { method } = await services.loader.load(session, sessionStream(tenantId, sessionId));
        await run(endSession, { sessionId, reason: 'sso_logout' });
        await services.refreshTokens.revokeSession(tenantId, sessionId);
        const found = method === 'org_sso' ? await enabledOrgConfig(services, tenantId) : undefined;
        const actor = actorOf(request.principal, request);
        const ended = { owner: tenantId, sessionId, state: 'organization', actor };
        const idTokenHint = found && (await ownIdToken(services, found, ended, readLogoutHint(request)));
        if (idTokenHint !== undefined) clearLogoutHint(reply, ORG_OIDC_LOGOUT, isSecure(found!));
        return { success: true, logoutUrl: await logoutAddress(services, found, { ...ended, idTokenHint }) };
      },
    }),
  ],
};
