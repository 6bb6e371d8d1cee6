import { z } from 'zod';
import { enabledConfig, ssoConfigs, ssoConfigsStream } from '../../../../contexts/sso/domain/sso-configs.ts';
import { OIDC_INITIATE } from '../../../../contexts/sso/domain/addresses.ts';
import { sameIssuer } from '../../../../contexts/sso/openid-refusals.ts';
import { beginningAddress, loginHint, refusalAddress } from '../../../../contexts/sso/page-return.ts';
import { asTenantId, uuid } from '../../../../platform/kernel/ids.ts';
import { openAccess } from '../../access.ts';
import { redirect } from '../../redirect.ts';
import { routeWith, type RouteGroup } from '../../route.ts';
import { ssoTenantOf } from './sso-tenant.ts';
import type { AggregateLoader } from '../../../../platform/execution/aggregate-loader.ts';

export interface SsoInitiateRouteDependencies {
  readonly loader: AggregateLoader;
}

const route = routeWith<SsoInitiateRouteDependencies>();

/**
 * OpenID Connect Core 1.0 §4. `iss` is optional, because tiles of some portals are plain links. `target_link_uri` is
 * accepted and not followed: a sign-in always ends on the sign-in page.
 */
export const initiation = {
  iss: z.string().max(2_048).optional(),
  login_hint: loginHint,
  target_link_uri: z.string().max(4_096).optional(),
};

/** Sign-ins that a tenant's provider starts. They become sign-ins that start here, with a state of their own. */
export const ssoInitiateRoutes: RouteGroup<SsoInitiateRouteDependencies> = {
  area: 'auth',
  routes: [
    route({
      method: 'GET',
      path: OIDC_INITIATE,
      access: openAccess('sso'),
      facesBrowsers: true,
      summary: 'Start a sign-in from the portal of the provider',
      description:
        'The `initiate_login_uri` of OpenID Connect. Redirects to the sign-in page, which goes on to the provider. An `iss` must be the issuer of the enabled configuration.',
      query: z.object({ tenant_id: uuid().optional(), ...initiation }),
      status: 302,
      response: { media: 'text/plain' },
      handle: async (call) => {
        const { services, query, reply } = call;
        const tenantId = asTenantId(await ssoTenantOf(call));
        const found = enabledConfig(await services.loader.load(ssoConfigs, ssoConfigsStream(tenantId)), 'oidc');
        const isItsIssuer = found && (query.iss === undefined || sameIssuer(query.iss, found.issuerUrl));
        return redirect(
          reply,
          302,
          isItsIssuer
            ? beginningAddress({ tenant_id: tenantId, sso_start: 'oidc' }, query.login_hint)
            : refusalAddress('sso_not_configured', tenantId),
        );
      },
    }),
  ],
};
