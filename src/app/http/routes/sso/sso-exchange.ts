import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { tenant, tenantStream } from '../../../../contexts/tenants/domain/tenant.ts';
import { openSsoSession, type SsoSignInDependencies } from '../../../../contexts/identity/sso-sign-in.ts';
import { isStillCarried } from '../../../../contexts/identity/vouching.ts';
import { FailureError, unauthenticated } from '../../../../platform/kernel/failure.ts';
import type { OidcSessions } from '../../../../contexts/sso/oidc-sessions.ts';
import type { ProviderSessions } from '../../../../contexts/sso/saml/provider-sessions.ts';
import { beginUnlessLoggedOut } from '../../../../contexts/sso/begin-unless-logged-out.ts';
import { redeemHandover } from '../../../../contexts/sso/page-return.ts';
import { openAccess } from '../../access.ts';
import { actorOf } from '../../principal.ts';
import { routeWith, type RouteGroup } from '../../route.ts';
import { signedInByProvider, signInResponse } from '../identity/sign-in-response.ts';
import type { AggregateLoader } from '../../../../platform/execution/aggregate-loader.ts';
import type { OneTimeTokens } from '../../../../contexts/identity/one-time-tokens.ts';

export interface SsoExchangeRouteDependencies extends SsoSignInDependencies {
  readonly loader: AggregateLoader;
  readonly oneTimeTokens: OneTimeTokens;
  readonly oidcSessions: OidcSessions;
  readonly samlSessions: ProviderSessions;
}

const route = routeWith<SsoExchangeRouteDependencies>();

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
      handle: async ({ body, services, request, ask }) => {
        const refused = new FailureError(unauthenticated('invalid_exchange_code'));
        const taken = await redeemHandover(services.oneTimeTokens, body.code, body.verifier);
        if (!taken) throw refused;
        const { tenantId, adminId, sessionEpoch, method, basis, reauthenticated, providerSession, provider, until } =
          taken;
        const admin = (await services.loader.load(tenant, tenantStream(tenantId))).admins.get(adminId);
        if (
          admin?.status !== 'active' ||
          admin.sessionEpoch !== sessionEpoch ||
          (until !== undefined && until <= Date.now()) ||
          !(await isStillCarried(services.loader, 'tenant', tenantId, basis))
        )
          throw refused;
        const { vouchedBy } = basis;
        const sessionId = randomUUID();
        if (providerSession !== undefined)
          await services.samlSessions.remember({ tenantId, sessionId, configId: vouchedBy.configId }, providerSession);
        if (provider) await services.oidcSessions.remember(tenantId, sessionId, provider);
        const actor = actorOf(undefined, request);
        const proof = { method, vouchedBy, reauthenticated, sessionId, until };
        const tokens = await beginUnlessLoggedOut(
          services,
          { tenantId, sessionId, purpose: 'sso-handoff', code: body.code, actor },
          () => openSsoSession(services, tenantId, admin, proof, actor),
        );
        if (!tokens) throw refused;
        return signInResponse({ step: 'done', tokens }, tenantId, adminId, ask);
      },
    }),
  ],
};
