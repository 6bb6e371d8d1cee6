import { z } from 'zod';
import { findOrgSso } from '../../../../../queries/organizations/find-org-sso.ts';
import { getOrgAdmin } from '../../../../../queries/organizations/get-org-admin.ts';
import {
  HANDOFF_SECONDS,
  issueOrgHandoff,
  redeemOrgHandoff,
  type OrgHandoffDependencies,
  type RedeemedOrgHandoff,
} from '../../../../contexts/identity/org-handoff.ts';
import {
  issueOrgReauthentication,
  type ReauthenticationDependencies,
} from '../../../../contexts/identity/reauthentication.ts';
import { openSession, sessionIdOf, type SignInDependencies } from '../../../../contexts/identity/sign-in.ts';
import { SsoRefused, type SsoSignInDependencies } from '../../../../contexts/identity/sso-sign-in.ts';
import type { Actor } from '../../../../platform/kernel/actor.ts';
import { loggedOutSince, recordRefusedExchange, type CodeOwner } from '../../../../contexts/sso/refused-exchange.ts';
import { FailureError, unauthenticated } from '../../../../platform/kernel/failure.ts';
import { asTenantId, INSTALLATION, type TenantId } from '../../../../platform/kernel/ids.ts';
import {
  finishOidcSignIn,
  startOidcSignIn,
  type OidcSignInDependencies,
} from '../../../../contexts/sso/oidc-sign-in.ts';
import { admitOrgAdmin, enabledOrgConfig, type OrgOidcDependencies } from '../../../../contexts/sso/org-oidc.ts';
import { ownerWithSso } from '../../../../contexts/sso/claimed-owner.ts';
import { beginUnlessLoggedOut } from '../../../../contexts/sso/begin-unless-logged-out.ts';
import { codeUnlessLoggedOut } from '../../../../contexts/sso/code-unless-logged-out.ts';
import { loginHint, orgRefusalAddress } from '../../../../contexts/sso/page-return.ts';
import {
  AUTHORIZATION_SECONDS,
  giveBackCallback,
  type PendingAuthorization,
} from '../../../../contexts/sso/pending-authorization.ts';
import { ORG_OIDC_LOGOUT } from '../../../../contexts/sso/domain/addresses.ts';
import { openAccess } from '../../access.ts';
import { giveBackIfRepeatable } from '../../plugins/given-back.ts';
import { clearBrowserSecret, setBrowserSecret, readBrowserSecret } from '../../browser-cookie.ts';
import { setLogoutHint } from '../../logout-hint-cookie.ts';
import { actorOf } from '../../principal.ts';
import { providerReturnQuery, reauthenticationQuery, returnedBy } from '../sso/provider-return.ts';
import { redirect } from '../../redirect.ts';
import { routeWith, type RouteGroup } from '../../route.ts';
import { shown, signedInToOrganizationByProvider } from '../identity/sign-in-response.ts';
import {
  oneNamed,
  ORG_SSO,
  organizationQuery,
  orgSsoDiscoveryRoutes,
  type OrgSsoDiscoveryDependencies,
} from './org-sso-discovery.ts';

export interface OrgSsoRouteDependencies
  extends
    OidcSignInDependencies,
    OrgHandoffDependencies,
    OrgOidcDependencies,
    OrgSsoDiscoveryDependencies,
    ReauthenticationDependencies,
    SignInDependencies,
    SsoSignInDependencies {}

const route = routeWith<OrgSsoRouteDependencies>();

const loginQuery = z.object({ ...organizationQuery, ...reauthenticationQuery, login_hint: loginHint }).check(oneNamed);

/** Begins the session of a sign-in, and its proof. Throws `SsoRefused` if a logout came in between. */
async function sessionOf(
  services: OrgSsoRouteDependencies,
  { organizationId: tenantId, admin, vouchedBy, reauthenticated, provider, use }: RedeemedOrgHandoff,
  code: string,
  actor: Actor,
) {
  const { adminId, sessionEpoch: epoch, role } = admin;
  const sessionId = sessionIdOf(code);
  if (provider) await services.oidcSessions.remember(tenantId, sessionId, provider);
  const opened = { tenantId, sessionId, epoch, role, vouchedBy, actor };
  const tokens = await beginUnlessLoggedOut(
    services,
    { tenantId, sessionId, purpose: 'org-handoff', code, use, actor },
    () => openSession(services, { ...opened, subjectId: adminId, subjectKind: 'org_admin', method: 'org_sso' }),
  );
  if (!tokens) throw loggedOutSince(adminId);
  const proof = reauthenticated
    ? { reAuthToken: await issueOrgReauthentication(services, { tenantId, adminId, sessionId }) }
    : {};
  return { ...tokens, ...proof };
}

export const orgSsoRoutes: RouteGroup<OrgSsoRouteDependencies> = {
  area: 'org',
  routes: [
    ...orgSsoDiscoveryRoutes,
    route({
      method: 'GET',
      path: `${ORG_SSO}/login`,
      access: openAccess('sso'),
      facesBrowsers: true,
      summary: "Redirect to the organization's OpenID Connect provider",
      operation: 'startOrgOidcSignIn',
      sends: ['Set-Cookie'],
      description:
        'With `reauthenticate=true` the user must authenticate again and gets a re-authentication token. Without `challenge` only the browser that keeps the cookie of this response can exchange the code.',
      query: loginQuery,
      status: 302,
      response: { media: 'text/plain' },
      handle: async ({ query, services, request, reply, ask }) => {
        const known = await ask(findOrgSso, query, INSTALLATION);
        const owner = known ? asTenantId(known.id) : undefined;
        const found = owner && (await enabledOrgConfig(services, owner));
        try {
          const reauthenticates = query.reauthenticate === true;
          const challenge = query.challenge ?? null;
          const started = await startOidcSignIn(
            services,
            found,
            { owner: owner ?? INSTALLATION, kind: 'organization', challenge, reauthenticates },
            query.login_hint,
          );
          setBrowserSecret(reply, started.state, started.browserSecret, {
            seconds: AUTHORIZATION_SECONDS,
            secure: started.secure,
          });
          return redirect(reply, 302, started.address);
        } catch (error) {
          if (!(error instanceof SsoRefused)) throw error;
          if (found)
            await services.ssoRefusals.signIn(
              {
                tenantId: owner,
                protocol: 'oidc',
                configId: found.config.configId,
                actor: actorOf(undefined, request),
              },
              error,
            );
          return redirect(reply, 302, orgRefusalAddress(error.reason, error.detail));
        }
      },
    }),
    route({
      method: 'GET',
      path: `${ORG_SSO}/callback`,
      access: openAccess('sso'),
      facesBrowsers: true,
      summary: 'Receive the OpenID Connect callback',
      operation: 'receiveOrgOidcCallback',
      sends: ['Set-Cookie'],
      description: 'Redirects to the sign-in page, with a code or with the reason of the refusal.',
      query: providerReturnQuery,
      status: 302,
      response: { media: 'text/plain' },
      handle: async ({ query: { state }, services, request, reply }) => {
        let believed: PendingAuthorization | undefined;
        try {
          const find = (owner: TenantId) => enabledOrgConfig(services, owner);
          const finished = await finishOidcSignIn(
            services,
            'organization',
            returnedBy(request, state),
            find,
            (authorization) => (believed = authorization),
          );
          giveBackIfRepeatable(request, () => giveBackCallback(services, state, finished.accepted));
          const { authorization, identity, basis, browserSecret, secure, idToken, provider } = finished;
          const admin = await admitOrgAdmin(services, authorization.owner, identity);
          const code = await codeUnlessLoggedOut(
            services,
            finished,
            { purpose: 'org-handoff', adminId: admin.adminId },
            () =>
              issueOrgHandoff(services, authorization.owner, admin, {
                browserSecret,
                challenge: authorization.challenge,
                basis,
                reauthenticated: authorization.reauthenticates,
                provider,
              }),
          );
          clearBrowserSecret(reply, state, secure);
          setBrowserSecret(reply, code, browserSecret, { seconds: HANDOFF_SECONDS, secure });
          setLogoutHint(reply, ORG_OIDC_LOGOUT, { idToken, secure });
          return redirect(reply, 302, `/login?${new URLSearchParams({ org_sso_code: code }).toString()}`);
        } catch (error) {
          if (!(error instanceof SsoRefused)) throw error;
          const { owner: tenantId } = believed ?? (await ownerWithSso(services, state)) ?? {};
          await services.ssoRefusals.signIn(
            {
              tenantId,
              protocol: 'oidc',
              configId: believed?.configId ?? null,
              actor: actorOf(undefined, request),
            },
            error,
          );
          return redirect(reply, 302, orgRefusalAddress(error.reason, error.detail));
        }
      },
    }),
    route({
      method: 'POST',
      path: `${ORG_SSO}/exchange`,
      access: openAccess('sso'),
      summary: 'Exchange the code of a single sign-on for tokens',
      operation: 'exchangeOrgSsoCode',
      refuses: ['invalid_exchange_code', 'read_side_behind'],
      description:
        'Once, within 60 seconds, in the browser that signed in. After `reauthenticate=true` the response contains a `reAuthToken` for one write.',
      body: z.object({ code: z.string().min(1).max(256), verifier: z.string().max(256).optional() }),
      response: signedInToOrganizationByProvider,
      handle: async ({ body: { code, verifier }, services, request, ask }) => {
        const actor = actorOf(undefined, request);
        const proof = { browserSecret: readBrowserSecret(request, code), verifier };
        let owner: CodeOwner | undefined;
        try {
          const redeemed = await redeemOrgHandoff(services, code, proof, (known) => (owner = known));
          const { organizationId, admin, use } = redeemed;
          giveBackIfRepeatable(request, () => services.oneTimeTokens.giveBack('org-handoff', code, use));
          const tokens = await sessionOf(services, redeemed, code, actor);
          return { ...tokens, user: await shown(ask(getOrgAdmin, { adminId: admin.adminId }, organizationId)) };
        } catch (error) {
          if (!(error instanceof SsoRefused)) {
            // Something was away: the code counts again.
            if (owner) await services.oneTimeTokens.giveBack('org-handoff', code, owner);
            throw error;
          }
          await recordRefusedExchange(services, error, { code, owner, actor });
          throw new FailureError(unauthenticated('invalid_exchange_code'));
        }
      },
    }),
  ],
};
