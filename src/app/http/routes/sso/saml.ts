import { z } from 'zod';
import {
  openSsoSession,
  SsoRefused,
  type SsoSignInDependencies,
  type SsoTokens,
} from '../../../../contexts/identity/sso-sign-in.ts';
import type { Actor } from '../../../../platform/kernel/actor.ts';
import { FailureError, notFound, unauthenticated } from '../../../../platform/kernel/failure.ts';
import type { TenantId } from '../../../../platform/kernel/ids.ts';
import {
  handoverAddress,
  pageReturnOf,
  pageReturnQuery,
  refusalAddress,
  beginningAddress,
  type PageReturn,
} from '../../../../contexts/sso/page-return.ts';
import { samlStartedOnPage, type OpenRequest } from '../../../../contexts/sso/saml/pending-requests.ts';
import { MAX_BASE64 } from '../../../../contexts/sso/saml/document-guard.ts';
import { startedAtProvider } from '../../../../contexts/sso/saml/unsolicited-response.ts';
import { ownerWithSso } from '../../../../contexts/sso/claimed-owner.ts';
import type { OrgOidcDependencies } from '../../../../contexts/sso/org-oidc.ts';
import { beginUnlessLoggedOut } from '../../../../contexts/sso/begin-unless-logged-out.ts';
import { loggedOutSince } from '../../../../contexts/sso/refused-exchange.ts';
import { issueSamlCode } from '../../../../contexts/sso/saml/issue-saml-code.ts';
import { SamlRefused } from '../../../../contexts/sso/saml/refused.ts';
import {
  finishSamlSignIn,
  metadataOf,
  ssoRefusalOf,
  startSamlSignIn,
  type FinishedSamlSignIn,
  type SamlSignInDependencies,
} from '../../../../contexts/sso/saml/saml-sign-in.ts';
import { sessionIdOf } from '../../../../contexts/identity/sign-in.ts';
import { openAccess } from '../../access.ts';
import { giveBackIfRepeatable } from '../../plugins/given-back.ts';
import { actorOf } from '../../principal.ts';
import { reauthenticationQuery } from './provider-return.ts';
import { redirect } from '../../redirect.ts';
import { wantsPage } from '../../refusal-page.ts';
import { routeWith, type RouteGroup } from '../../route.ts';
import { signedInByProvider, signInResponse } from '../identity/sign-in-response.ts';
import { ssoTenantOf, tenantQuery } from './sso-tenant.ts';
import type { OneTimeTokens } from '../../../../contexts/identity/one-time-tokens.ts';

export interface SamlRouteDependencies extends OrgOidcDependencies, SamlSignInDependencies, SsoSignInDependencies {
  readonly oneTimeTokens: OneTimeTokens;
}

const route = routeWith<SamlRouteDependencies>();

/** Three of the 64 characters of base64 are percent-encoded. */
const MOST_BYTES = MAX_BASE64 * 1.5;

const pageOf = ({ browser }: OpenRequest): PageReturn => (browser === null ? undefined : { challenge: browser });

interface SignInWithoutPage extends Omit<FinishedSamlSignIn, 'marks' | 'issued'> {
  readonly tenantId: TenantId;
  readonly reauthenticated: boolean;
  readonly sessionId: string;
  readonly code: string;
  readonly actor: Actor;
}

/** Throws `SsoRefused` if the provider has logged the person out meanwhile. */
async function beginWithoutPage(
  services: SamlRouteDependencies,
  {
    tenantId,
    admin,
    basis: { vouchedBy },
    providerSession,
    until,
    reauthenticated,
    sessionId,
    code,
    actor,
  }: SignInWithoutPage,
): Promise<SsoTokens> {
  await services.samlSessions.remember({ tenantId, sessionId, configId: vouchedBy.configId }, providerSession);
  const proof = { method: 'saml', vouchedBy, reauthenticated, sessionId, until } as const;
  const session = { tenantId, sessionId, purpose: 'sso-handoff', code, actor } as const;
  const tokens = await beginUnlessLoggedOut(services, session, () =>
    openSsoSession(services, tenantId, admin, proof, actor),
  );
  if (!tokens) throw loggedOutSince(admin.adminId);
  return tokens;
}

interface RefusedResponse {
  readonly pending: OpenRequest | undefined;
  readonly relayState: string;
  readonly actor: Actor;
}

/** Returns the address of the page that shows the refusal. */
async function recordRefusal(
  services: SamlRouteDependencies,
  refusal: SsoRefused,
  { pending, relayState, actor }: RefusedResponse,
): Promise<string> {
  const owned = pending ? { owner: pending.tenantId, kind: 'tenant' } : await ownerWithSso(services, relayState);
  const attempt = { tenantId: owned?.owner, protocol: 'saml', configId: pending?.configId ?? null, actor } as const;
  await services.ssoRefusals.signIn(attempt, refusal);
  return refusalAddress(refusal.reason, owned?.kind === 'tenant' ? owned.owner : undefined, refusal.detail);
}

export const samlRoutes: RouteGroup<SamlRouteDependencies> = {
  area: 'auth',
  routes: [
    route({
      method: 'GET',
      path: '/api/v1/auth/saml/metadata',
      access: openAccess('session'),
      summary: 'Get the SAML 2.0 service provider metadata',
      description: 'For import into the identity provider of the tenant.',
      refuses: ['not_found'],
      query: z.object(tenantQuery),
      response: { media: 'application/samlmetadata+xml' },
      handle: async (call) => {
        const metadata = await metadataOf(call.services, await ssoTenantOf(call));
        if (!metadata) throw new FailureError(notFound());
        call.reply.type('application/samlmetadata+xml');
        return metadata;
      },
    }),
    route({
      method: 'GET',
      path: '/api/v1/auth/saml/login',
      access: openAccess('sso'),
      facesBrowsers: true,
      summary: "Redirect to the tenant's SAML provider",
      operation: 'startSamlSignIn',
      refuses: ['sso_not_configured'],
      sends: ['Set-Cookie'],
      description:
        'With `return_to=login` the user returns to the sign-in page. With `reauthenticate=true` the user must authenticate again and gets a re-authentication token.',
      query: z.object({ ...tenantQuery, ...pageReturnQuery, ...reauthenticationQuery }),
      status: 302,
      response: { media: 'text/plain' },
      handle: async (call) => {
        const tenantId = await ssoTenantOf(call);
        const page = pageReturnOf(call.query);
        const address = await startSamlSignIn(call.services, tenantId, {
          browser: page?.challenge ?? null,
          reauthenticates: call.query.reauthenticate === true,
        });
        if (address) return redirect(call.reply, 302, address);
        if (page || wantsPage(call.request))
          return redirect(call.reply, 302, refusalAddress('sso_not_configured', tenantId));
        throw new FailureError(notFound('sso_not_configured'));
      },
    }),
    route({
      method: 'POST',
      path: '/api/v1/auth/saml/callback',
      access: openAccess('sso'),
      facesBrowsers: true,
      summary: 'Receive a SAML response',
      operation: 'receiveSamlResponse',
      sends: ['Location'],
      refuses: ['single_sign_on_failed', 'read_side_behind'],
      description:
        'The assertion consumer service. Accepts only responses to requests of this service. A browser that brings an unsolicited response of the provider of a tenant is sent to the sign-in page, which starts a request of its own.',
      consumes: 'form',
      mostBytes: MOST_BYTES,
      body: z.object({ SAMLResponse: z.string().min(1), RelayState: z.string().max(1_024).optional() }),
      response: signedInByProvider,
      handle: async ({
        body: { SAMLResponse: samlResponse, RelayState: relayState = '' },
        services,
        request,
        reply,
        ask,
      }) => {
        const actor = actorOf(undefined, request);
        const toPage = wantsPage(request);
        const startedFor = toPage ? await startedAtProvider(services, samlResponse, relayState) : undefined;
        if (startedFor)
          return redirect(reply, 303, beginningAddress({ tenant_id: startedFor, sso_start: 'saml' }, undefined));
        let pending: OpenRequest | undefined;
        try {
          pending = await services.pendingSamlRequests.find(relayState);
          const { tenantId, browser, reauthenticates: reauthenticated } = pending;
          const { admin, issued, ...finished } = await finishSamlSignIn(
            services,
            { samlResponse, relayState },
            pending,
            (giveBack) => giveBackIfRepeatable(request, giveBack),
          );
          const { adminId, sessionEpoch } = admin;
          const code = await issueSamlCode(
            services,
            { tenantId, adminId, sessionEpoch, method: 'saml', reauthenticated, ...finished },
            pageOf(pending),
            issued,
          );
          if (browser !== null) return redirect(reply, 303, handoverAddress(tenantId, 'saml', code));
          const tokens = await beginWithoutPage(services, {
            tenantId,
            admin,
            ...finished,
            reauthenticated,
            sessionId: sessionIdOf(relayState),
            code,
            actor,
          });
          return await signInResponse({ step: 'done', tokens }, tenantId, adminId, ask);
        } catch (error) {
          if (!(error instanceof SamlRefused) && !(error instanceof SsoRefused)) throw error;
          const refusal = error instanceof SamlRefused ? ssoRefusalOf(error) : error;
          const address = await recordRefusal(services, refusal, { pending, relayState, actor });
          if (samlStartedOnPage(relayState) || toPage) return redirect(reply, 303, address);
          throw new FailureError(unauthenticated('single_sign_on_failed', `single sign-on failed: ${refusal.reason}`));
        }
      },
    }),
  ],
};
