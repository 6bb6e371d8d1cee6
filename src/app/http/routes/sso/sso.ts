import { z } from 'zod';
import { endSession } from '../../../../../commands/identity/end-session.ts';
import { enabledConfig, ssoConfigs, ssoConfigsStream } from '../../../../contexts/sso/domain/sso-configs.ts';
import { session, sessionStream } from '../../../../contexts/identity/domain/session.ts';
import { enabledSsoConfig } from '../../../../contexts/sso/enabled-config.ts';
import { isSecure, logoutAddress, ownIdToken } from '../../../../contexts/sso/oidc-sign-in.ts';
import { providerLogoutUrl, type SingleLogoutDependencies } from '../../../../contexts/sso/saml/single-logout.ts';
import { OIDC_LOGOUT } from '../../../../contexts/sso/domain/addresses.ts';
import { openAccess } from '../../access.ts';
import { clearLogoutHint, readLogoutHint } from '../../logout-hint-cookie.ts';
import { actorOf } from '../../principal.ts';
import { routeWith, type RouteGroup } from '../../route.ts';
import { liveAdminSession, type LiveAdminSessionDependencies } from './live-admin-session.ts';
import { ssoTenantOf, tenantQuery } from './sso-tenant.ts';
import type { AggregateLoader } from '../../../../platform/execution/aggregate-loader.ts';
import type { RefreshTokens } from '../../../../contexts/identity/refresh-tokens.ts';
import { oidcSignInRoutes, type OidcSignInRouteDependencies } from './oidc.ts';

export interface SsoRouteDependencies
  extends OidcSignInRouteDependencies, LiveAdminSessionDependencies, SingleLogoutDependencies {
  readonly loader: AggregateLoader;
  readonly refreshTokens: RefreshTokens;
}

const route = routeWith<SsoRouteDependencies>();

export const ssoRoutes: RouteGroup<SsoRouteDependencies> = {
  area: 'auth',
  routes: [
    route({
      method: 'GET',
      path: '/api/v1/auth/sso/status',
      access: openAccess('session'),
      summary: 'Get the single sign-on protocols of a tenant',
      description: 'None for an unknown tenant.',
      query: z.object(tenantQuery),
      response: z.object({
        configured: z.boolean(),
        oidc: z.boolean(),
        saml: z.boolean(),
        loginUrl: z.string().nullable(),
        /** Names of the configurations, for the buttons of a sign-in page. */
        oidcName: z.string().nullable(),
        samlName: z.string().nullable(),
      }),
      handle: async (call) => {
        const tenantId = await ssoTenantOf(call);
        const configs = await call.services.loader.load(ssoConfigs, ssoConfigsStream(tenantId));
        const [oidcName = null, samlName = null] = [
          enabledConfig(configs, 'oidc')?.name,
          enabledConfig(configs, 'saml')?.name,
        ];
        const [oidc, saml] = [oidcName !== null, samlName !== null];
        return {
          configured: oidc || saml,
          oidc,
          saml,
          loginUrl: oidc ? '/api/v1/auth/sso/login' : saml ? '/api/v1/auth/saml/login' : null,
          oidcName,
          samlName,
        };
      },
    }),
    ...oidcSignInRoutes,
    route({
      method: 'POST',
      path: OIDC_LOGOUT,
      access: openAccess('session'),
      summary: 'End the session, and get the logout URL of the provider',
      takes: { 'X-Tenant-ID': 'optional' },
      operation: 'signOutWithSso',
      sends: ['Set-Cookie'],
      refuses: ['authentication_required'],
      description:
        'A browser that navigates to `logoutUrl` also signs out of the provider, and returns to the sign-in page if `postLogoutRedirectUri` is registered there.',
      response: z.object({ success: z.literal(true), logoutUrl: z.string().nullable() }),
      handle: async ({ services, request, reply, run }) => {
        const principal = await liveAdminSession(request, services);
        const { tenantId, sessionId } = principal;
        const { method } = await services.loader.load(session, sessionStream(tenantId, sessionId));
        request.principal = principal;
        const actor = actorOf(principal, request);
        await run(endSession, { sessionId, reason: 'sso_logout' }, tenantId);
        await services.refreshTokens.revokeSession(tenantId, sessionId);
        if (method === 'saml')
          return { success: true, logoutUrl: await providerLogoutUrl(services, tenantId, sessionId, actor) };
        const found = method === 'oidc' ? await enabledSsoConfig(services, tenantId, 'oidc') : undefined;
        const ended = { owner: tenantId, sessionId, state: tenantId, actor };
        const idTokenHint = found && (await ownIdToken(services, found, ended, readLogoutHint(request)));
        if (idTokenHint !== undefined) clearLogoutHint(reply, OIDC_LOGOUT, isSecure(found!));
        return { success: true, logoutUrl: await logoutAddress(services, found, { ...ended, idTokenHint }) };
      },
    }),
  ],
};
