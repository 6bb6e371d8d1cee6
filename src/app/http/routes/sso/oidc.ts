import { z } from 'zod';
import { getAdminUser } from '../../../../../queries/admins/get-admin-user.ts';
import { sessionIdOf } from '../../../../contexts/identity/sign-in.ts';
import {
  admitAdmin,
  openSsoSession,
  SsoRefused,
  type SsoSignInDependencies,
} from '../../../../contexts/identity/sso-sign-in.ts';
import {
  FailureError,
  notFound,
  unauthenticated,
  temporarilyUnavailable,
  type Failure,
} from '../../../../platform/kernel/failure.ts';
import { enabledSsoConfig, type EnabledConfigDependencies } from '../../../../contexts/sso/enabled-config.ts';
import {
  finishOidcSignIn,
  startOidcSignIn,
  tenantOidcConfig,
  type OidcSignInDependencies,
} from '../../../../contexts/sso/oidc-sign-in.ts';
import { ownerWithSso } from '../../../../contexts/sso/claimed-owner.ts';
import type { OrgOidcDependencies } from '../../../../contexts/sso/org-oidc.ts';
import { beginUnlessLoggedOut } from '../../../../contexts/sso/begin-unless-logged-out.ts';
import { codeUnlessLoggedOut } from '../../../../contexts/sso/code-unless-logged-out.ts';
import { loggedOutSince } from '../../../../contexts/sso/refused-exchange.ts';
import {
  handoverAddress,
  issueHandover,
  loginHint,
  pageReturnOf,
  pageReturnQuery,
  refusalAddress,
} from '../../../../contexts/sso/page-return.ts';
import {
  oidcStartedOnPage,
  AUTHORIZATION_SECONDS,
  giveBackCallback,
  type PendingAuthorization,
} from '../../../../contexts/sso/pending-authorization.ts';
import { OIDC_CALLBACK, OIDC_LOGOUT } from '../../../../contexts/sso/domain/addresses.ts';
import { isProviderAway } from '../../../../contexts/sso/openid-refusals.ts';
import { openAccess } from '../../access.ts';
import { giveBackIfRepeatable } from '../../plugins/given-back.ts';
import { clearBrowserSecret, setBrowserSecret } from '../../browser-cookie.ts';
import { setLogoutHint } from '../../logout-hint-cookie.ts';
import { wantsPage } from '../../refusal-page.ts';
import { actorOf } from '../../principal.ts';
import { providerReturnQuery, reauthenticationQuery, returnedBy } from './provider-return.ts';
import { redirect } from '../../redirect.ts';
import { routeWith, type AnyRoute } from '../../route.ts';
import { shown, signedInByProvider } from '../identity/sign-in-response.ts';
import { ssoTenantOf, tenantQuery } from './sso-tenant.ts';
import type { OneTimeTokens } from '../../../../contexts/identity/one-time-tokens.ts';
import type { Lookups } from '../../../../contexts/identity/lookups.ts';

export interface OidcSignInRouteDependencies
  extends EnabledConfigDependencies, OidcSignInDependencies, OrgOidcDependencies, SsoSignInDependencies {
  readonly oneTimeTokens: OneTimeTokens;
  readonly lookups: Lookups;
}

const route = routeWith<OidcSignInRouteDependencies>();

/** Waiting helps only while the provider is away. */
const refusalForProgram = (error: SsoRefused): Failure =>
  isProviderAway(error)
    ? temporarilyUnavailable('identity_provider_unavailable')
    : unauthenticated('single_sign_on_failed', `single sign-on failed: ${error.reason}`);

/** A sign-in over OpenID Connect: to the provider, and back. */
export const oidcSignInRoutes: readonly AnyRoute<OidcSignInRouteDependencies>[] = [
  route({
    method: 'GET',
    path: '/api/v1/auth/sso/login',
    access: openAccess('sso'),
    facesBrowsers: true,
    summary: "Redirect to the tenant's OpenID Connect provider",
    operation: 'startOidcSignIn',
    refuses: ['sso_not_configured', 'single_sign_on_failed', 'identity_provider_unavailable'],
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
          await services.ssoRefusals.signIn(
            {
              tenantId,
              protocol: 'oidc',
              configId: found.config.configId,
              actor: actorOf(undefined, request),
            },
            error,
          );
        if (page || wantsPage(request))
          return redirect(reply, 302, refusalAddress(error.reason, tenantId, error.detail));
        throw new FailureError(found ? refusalForProgram(error) : notFound('sso_not_configured'));
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
    refuses: ['single_sign_on_failed', 'read_side_behind', 'identity_provider_unavailable'],
    description:
      'Returns tokens, or redirects to the sign-in page with a code. After 503 the same browser can come back with the same address; a code that the provider has seen by then is refused, and the person signs in again.',
    query: providerReturnQuery,
    response: signedInByProvider,
    handle: async ({ query: { state }, services, request, reply, ask }) => {
      const actor = actorOf(undefined, request);
      let believed: PendingAuthorization | undefined;
      try {
        const finished = await finishOidcSignIn(
          services,
          'tenant',
          returnedBy(request, state),
          tenantOidcConfig(services),
          (authorization) => (believed = authorization),
        );
        giveBackIfRepeatable(request, () => giveBackCallback(services, state, finished.accepted));
        const { authorization, identity, basis, secure, idToken, provider } = finished;
        clearBrowserSecret(reply, state, secure);
        const { owner: tenantId, challenge, reauthenticates: reauthenticated } = authorization;
        const admin = await admitAdmin(services, tenantId, identity);
        setLogoutHint(reply, OIDC_LOGOUT, { idToken, secure });
        const { adminId, sessionEpoch } = admin;
        const code = await codeUnlessLoggedOut(services, finished, { purpose: 'sso-handoff', adminId }, () =>
          issueHandover(
            services.oneTimeTokens,
            { tenantId, adminId, sessionEpoch, method: 'oidc', basis, reauthenticated, provider },
            challenge === null ? undefined : { challenge },
          ),
        );
        if (challenge !== null) return redirect(reply, 302, handoverAddress(tenantId, 'oidc', code));
        const sessionId = sessionIdOf(state);
        await services.oidcSessions.remember(tenantId, sessionId, provider);
        const proof = { method: 'oidc', vouchedBy: basis.vouchedBy, reauthenticated, sessionId } as const;
        const tokens = await beginUnlessLoggedOut(
          services,
          { tenantId, sessionId, purpose: 'sso-handoff', code, actor },
          () => openSsoSession(services, tenantId, admin, proof, actor),
        );
        if (!tokens) throw loggedOutSince(adminId);
        const { id, email, displayName, roleType } = await shown(ask(getAdminUser, { adminId }, tenantId));
        return { ...tokens, user: { id, email, displayName, roleType } };
      } catch (error) {
        if (!(error instanceof SsoRefused)) throw error;
        const { owner, kind } = believed ?? (await ownerWithSso(services, state)) ?? {};
        await services.ssoRefusals.signIn(
          { tenantId: owner, protocol: 'oidc', configId: believed?.configId ?? null, actor },
          error,
        );
        if (oidcStartedOnPage(state) || wantsPage(request)) {
          const tenantId = kind === 'tenant' ? owner : undefined;
          return redirect(reply, 302, refusalAddress(error.reason, tenantId, error.detail));
        }
        throw new FailureError(refusalForProgram(error));
      }
    },
  }),
];
