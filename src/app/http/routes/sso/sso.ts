import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { endSession } from '../../../../../commands/identity/end-session.ts';
import { getAdminUser } from '../../../../../queries/admins/get-admin-user.ts';
import { enabledConfig, ssoConfigs, ssoConfigsStream } from '../../../../contexts/sso/domain/sso-configs.ts';
import { session, sessionStream } from '../../../../contexts/identity/domain/session.ts';
import {
  admitAdmin,
  auditRefusal,
  openSsoSession,
  SsoRefused,
  type SsoSignInDependencies,
} from '../../../../contexts/identity/sso-sign-in.ts';
import {
  FailureError,
  notFound,
  unauthenticated,
  temporarilyUnavailable,
} from '../../../../platform/kernel/failure.ts';
import { uuid, type TenantId } from '../../../../platform/kernel/ids.ts';
import { enabledSsoConfig, type EnabledConfigDependencies } from '../../../../contexts/sso/enabled-config.ts';
import {
  finishOidcSignIn,
  isSecure,
  logoutAddress,
  startOidcSignIn,
  tenantOidcConfig,
  type OidcSignInDependencies,
} from '../../../../contexts/sso/oidc-sign-in.ts';
import {
  issueHandover,
  loginHint,
  pageReturnOf,
  pageReturnQuery,
  refusalAddress,
} from '../../../../contexts/sso/page-return.ts';
import {
  oidcStartedOnPage,
  claimedOwner,
  AUTHORIZATION_SECONDS,
  type PendingAuthorization,
} from '../../../../contexts/sso/pending-authorization.ts';
import { providerLogoutUrl, type SingleLogoutDependencies } from '../../../../contexts/sso/saml/single-logout.ts';
import { OIDC_CALLBACK, OIDC_LOGOUT } from '../../../../contexts/sso/domain/addresses.ts';
import { openAccess } from '../../access.ts';
import { clearBrowserSecret, setBrowserSecret } from '../../browser-cookie.ts';
import { clearLogoutHint, readLogoutHint, setLogoutHint } from '../../logout-hint-cookie.ts';
import { wantsPage } from '../../refusal-page.ts';
import { actorOf } from '../../principal.ts';
import { providerReturnQuery, reauthenticationQuery, returnedBy } from './provider-return.ts';
import { redirect } from '../../redirect.ts';
import { routeWith, type RouteGroup } from '../../route.ts';
import { shown, signedInByProvider } from '../identity/sign-in-response.ts';
import { liveAdminSession, type LiveAdminSessionDependencies } from './live-admin-session.ts';
import { ssoTenantOf } from './sso-tenant.ts';
import type { AggregateLoader } from '../../../../platform/execution/aggregate-loader.ts';
import type { RefreshTokens } from '../../../../contexts/identity/refresh-tokens.ts';
import type { OneTimeTokens } from '../../../../contexts/identity/one-time-tokens.ts';
import type { Lookups } from '../../../../contexts/identity/lookups.ts';

export interface SsoRouteDependencies
  extends
    EnabledConfigDependencies,
    LiveAdminSessionDependencies,
    OidcSignInDependencies,
    SingleLogoutDependencies,
    SsoSignInDependencies {
  readonly loader: AggregateLoader;
  readonly refreshTokens: RefreshTokens;
  readonly oneTimeTokens: OneTimeTokens;
  readonly lookups: Lookups;
}

const route = routeWith<SsoRouteDependencies>();

const tenantQuery = { tenant_id: uuid().optional() };

/** The tenant named in a state, if it exists with this protocol. A caller can put any id into a state. */
async function believedTenant(services: SsoRouteDependencies, state: string): Promise<TenantId | undefined> {
  const claimed = claimedOwner(state);
  return claimed && (await enabledSsoConfig(services, claimed, 'oidc')) ? claimed : undefined;
}

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
    route({
      method: 'GET',
      path: '/api/v1/auth/sso/login',
      access: openAccess('sso'),
      facesBrowsers: true,
      summary: "Redirect to the tenant's OpenID Connect provider",
      operation: 'startOidcSignIn',
      refuses: ['sso_not_configured', 'identity_provider_unavailable'],
      sends: ['Set-Cookie'],
      description:
        'With `return_to=login` the user returns to the sign-in page. With `reauthenticate=true` the user must authenticate again and gets a re-authentication token.',
      query: z.object({ ...tenantQuery, ...pageReturnQuery, ...reauthenticationQuery, login_hint: loginHint }),
      status: 302,
      response: { media: 'text/plain' },
      handle: async (call) => {
        const { services, request, reply, query } = call;
        const tenantId = await ssoTenantOf(call);
        const page = pageReturnOf(query);
        const found = await enabledSsoConfig(services, tenantId, 'oidc');
        try {
          const reauthenticates = query.reauthenticate === true;
          const started = await startOidcSignIn(
            services,
            found,
            { owner: tenantId, kind: 'tenant', challenge: page?.challenge ?? null, reauthenticates },
            query.login_hint,
          );
          setBrowserSecret(reply, started.state, started.browserSecret, {
            seconds: AUTHORIZATION_SECONDS,
            secure: started.secure,
          });
          return redirect(reply, 302, started.address);
        } catch (error) {
          if (!(error instanceof SsoRefused)) throw error;
          // Without a configuration there is nothing to audit, and anonymous callers may name any tenant.
          if (found)
            await auditRefusal(
              services,
              {
                tenantId,
                protocol: 'oidc',
                configId: found.config.configId,
                actor: actorOf(undefined, request.ip, request.headers['user-agent']),
              },
              error,
            );
          if (page || wantsPage(request))
            return redirect(reply, 302, refusalAddress(error.reason, tenantId, error.detail));
          throw new FailureError(
            found ? temporarilyUnavailable('identity_provider_unavailable') : notFound('sso_not_configured'),
          );
        }
      },
    }),
    route({
      method: 'GET',
      path: OIDC_CALLBACK,
      access: openAccess('sso'),
      facesBrowsers: true,
      summary: 'Receive the OpenID Connect callback',
      operation: 'receiveOidcCallback',
      sends: ['Location', 'Set-Cookie'],
      refuses: ['single_sign_on_failed', 'read_side_behind'],
      description: 'Returns tokens, or redirects to the sign-in page with a code.',
      query: providerReturnQuery,
      response: signedInByProvider,
      handle: async ({ query: { state }, services, request, reply, ask }) => {
        const actor = actorOf(undefined, request.ip, request.headers['user-agent']);
        let believed: PendingAuthorization | undefined;
        try {
          const { authorization, identity, vouchedBy, secure, idToken, provider } = await finishOidcSignIn(
            services,
            'tenant',
            returnedBy(request, state),
            tenantOidcConfig(services),
            (trip) => (believed = trip),
          );
          clearBrowserSecret(reply, state, secure);
          setLogoutHint(reply, OIDC_LOGOUT, { idToken, secure });
          const { owner: tenantId, challenge, reauthenticates: reauthenticated } = authorization;
          const admin = await admitAdmin(services, tenantId, identity);
          const { adminId, sessionEpoch } = admin;
          if (challenge !== null)
            return redirect(
              reply,
              302,
              await issueHandover(
                services.oneTimeTokens,
                { tenantId, adminId, sessionEpoch, method: 'oidc', vouchedBy, reauthenticated, provider },
                { challenge },
              ),
            );
          const sessionId = randomUUID();
          await services.oidcSessions.remember(tenantId, sessionId, provider);
          const tokens = await openSsoSession(
            services,
            tenantId,
            admin,
            { method: 'oidc', vouchedBy, reauthenticated, sessionId },
            actor,
          );
          const { id, email, displayName, roleType } = await shown(ask(getAdminUser, { adminId }, tenantId));
          return { ...tokens, user: { id, email, displayName, roleType } };
        } catch (error) {
          if (!(error instanceof SsoRefused)) throw error;
          const tenantId = believed?.owner ?? (await believedTenant(services, state));
          await auditRefusal(
            services,
            { tenantId, protocol: 'oidc', configId: believed?.configId ?? null, actor },
            error,
          );
          if (oidcStartedOnPage(state) || wantsPage(request))
            return redirect(reply, 302, refusalAddress(error.reason, tenantId, error.detail));
          throw new FailureError(unauthenticated('single_sign_on_failed', `single sign-on failed: ${error.reason}`));
        }
      },
    }),
    route({
      method: 'POST',
      path: OIDC_LOGOUT,
      access: openAccess('session'),
      summary: 'End the session, and get the logout URL of the provider',
      takes: { 'X-Tenant-ID': 'optional' },
      operation: 'signOutWithSso',
      refuses: ['authentication_required'],
      description:
        'A browser that navigates to `logoutUrl` also signs out of the provider, and returns to the sign-in page if `postLogoutRedirectUri` is registered there.',
      response: z.object({ success: z.literal(true), logoutUrl: z.string().nullable() }),
      handle: async ({ services, request, reply, run }) => {
        const principal = await liveAdminSession(request, services);
        const { tenantId, sessionId } = principal;
        const { method } = await services.loader.load(session, sessionStream(tenantId, sessionId));
        request.principal = principal;
        await run(endSession, { sessionId, reason: 'sso_logout' }, tenantId);
        await services.refreshTokens.revokeSession(tenantId, sessionId);
        if (method === 'saml')
          return { success: true, logoutUrl: await providerLogoutUrl(services, tenantId, sessionId) };
        const found = method === 'oidc' ? await enabledSsoConfig(services, tenantId, 'oidc') : undefined;
        if (found) clearLogoutHint(reply, OIDC_LOGOUT, isSecure(found));
        return { success: true, logoutUrl: await logoutAddress(services, found, tenantId, readLogoutHint(request)) };
      },
    }),
  ],
};
