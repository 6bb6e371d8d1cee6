import { z } from 'zod';
import { tenant, tenantStream } from '../../../../contexts/tenants/domain/tenant.ts';
import {
  openSsoSession,
  SsoRefused,
  type SsoSignInDependencies,
  type SsoTokens,
} from '../../../../contexts/identity/sso-sign-in.ts';
import { CHANGED } from '../../../../contexts/sso/domain/refusals.ts';
import type { OrgOidcDependencies } from '../../../../contexts/sso/org-oidc.ts';
import {
  loggedOutSince,
  recordRefusedExchange,
  signedOutSince,
  type CodeOwner,
} from '../../../../contexts/sso/refused-exchange.ts';
import type { Actor } from '../../../../platform/kernel/actor.ts';
import { isStillCarried } from '../../../../contexts/identity/vouching.ts';
import { FailureError, unauthenticated } from '../../../../platform/kernel/failure.ts';
import { namedProtocol } from '../../../../contexts/sso/named-protocol.ts';
import type { OidcSessions } from '../../../../contexts/sso/oidc-sessions.ts';
import type { ProviderSessions } from '../../../../contexts/sso/saml/provider-sessions.ts';
import { sessionIdOf } from '../../../../contexts/identity/sign-in.ts';
import { beginUnlessLoggedOut } from '../../../../contexts/sso/begin-unless-logged-out.ts';
import { redeemHandover, type RedeemedHandover } from '../../../../contexts/sso/page-return.ts';
import { openAccess } from '../../access.ts';
import { giveBackIfRepeatable } from '../../plugins/given-back.ts';
import { actorOf } from '../../principal.ts';
import { routeWith, type RouteGroup } from '../../route.ts';
import { signedInByProvider, signInResponse } from '../identity/sign-in-response.ts';
import type { AggregateLoader } from '../../../../platform/execution/aggregate-loader.ts';
import type { OneTimeTokens } from '../../../../contexts/identity/one-time-tokens.ts';

export interface SsoExchangeRouteDependencies extends OrgOidcDependencies, SsoSignInDependencies {
  readonly loader: AggregateLoader;
  readonly oneTimeTokens: OneTimeTokens;
  readonly oidcSessions: OidcSessions;
  readonly samlSessions: ProviderSessions;
}

const route = routeWith<SsoExchangeRouteDependencies>();

/** Begins the session of a sign-in, unless something has ended the sign-in since its callback. Throws `SsoRefused`. */
async function sessionOf(
  services: SsoExchangeRouteDependencies,
  handed: RedeemedHandover,
  code: string,
  actor: Actor,
): Promise<SsoTokens> {
  const { tenantId, adminId, sessionEpoch, method, basis, reauthenticated, providerSession, provider, until, use } =
    handed;
  if (!(await isStillCarried(services.loader, 'tenant', tenantId, basis)))
    throw new SsoRefused('sso_not_configured', CHANGED);
  const admin = (await services.loader.load(tenant, tenantStream(tenantId))).admins.get(adminId);
  if (!admin) throw new SsoRefused('account_not_found');
  if (admin.status !== 'active') throw new SsoRefused('account_disabled');
  if (admin.sessionEpoch !== sessionEpoch) throw signedOutSince();
  // The session at the provider is over.
  if (until !== undefined && until <= Date.now()) throw new SsoRefused('invalid_assertion', 'expired');
  const { vouchedBy } = basis;
  const sessionId = sessionIdOf(code);
  if (providerSession !== undefined)
    await services.samlSessions.remember({ tenantId, sessionId, configId: vouchedBy.configId }, providerSession);
  if (provider) await services.oidcSessions.remember(tenantId, sessionId, provider);
  const proof = { method, vouchedBy, reauthenticated, sessionId, until };
  const tokens = await beginUnlessLoggedOut(
    services,
    { tenantId, sessionId, purpose: 'sso-handoff', code, use, actor },
    () => openSsoSession(services, tenantId, admin, proof, actor),
  );
  if (!tokens) throw loggedOutSince(adminId);
  return tokens;
}

/** Gives the sign-in page its tokens after a single sign-on, so that no token is ever in a URL. */
export const ssoExchangeRoutes: RouteGroup<SsoExchangeRouteDependencies> = {
  area: 'auth',
  routes: [
    route({
      method: 'POST',
      path: '/api/v1/auth/sso/exchange',
      access: openAccess('session'),
      summary: 'Exchange the code of a single sign-on for tokens',
      operation: 'exchangeSsoCode',
      refuses: ['invalid_exchange_code', 'read_side_behind'],
      description: 'Once, within 60 seconds, in the browser tab that started the sign-in.',
      body: z.object({ code: z.string().min(1).max(256), verifier: z.string().min(1).max(256) }),
      response: signedInByProvider,
      handle: async ({ body: { code, verifier }, services, request, ask }) => {
        const actor = actorOf(undefined, request);
        const { token } = namedProtocol(code);
        let owner: CodeOwner | undefined;
        try {
          const handed = await redeemHandover(services.oneTimeTokens, token, verifier, (known) => (owner = known));
          giveBackIfRepeatable(request, () => services.oneTimeTokens.giveBack('sso-handoff', token, handed.use));
          const { tenantId, adminId } = handed;
          const tokens = await sessionOf(services, handed, token, actor);
          return await signInResponse({ step: 'done', tokens }, tenantId, adminId, ask);
        } catch (error) {
          if (!(error instanceof SsoRefused)) {
            // Something was away: the code counts again.
            if (owner) await services.oneTimeTokens.giveBack('sso-handoff', token, owner);
            throw error;
          }
          await recordRefusedExchange(services, error, { code, owner, actor });
          throw new FailureError(unauthenticated('invalid_exchange_code'));
        }
      },
    }),
  ],
};
