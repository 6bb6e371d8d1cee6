import { z } from 'zod';
import { enabledConfig, ssoConfigs, ssoConfigsStream } from '../../../../contexts/sso/domain/sso-configs.ts';
import { OIDC_INITIATE } from '../../../../contexts/sso/domain/addresses.ts';
import { sameIssuer } from '../../../../contexts/sso/openid-refusals.ts';
import { beginningAddress, loginHint, refusalAddress } from '../../../../contexts/sso/page-return.ts';
import { asTenantId } from '../../../../platform/kernel/ids.ts';
import { openAccess } from '../../access.ts';
import { redirect } from '../../redirect.ts';
import { routeWith, type RouteGroup } from '../../route.ts';
import { ssoTenantOf, tenantQuery } from './sso-tenant.ts';
import type { AggregateLoader } from '../../../../platform/execution/aggregate-loader.ts';

export interface SsoInitiateRouteDependencies {
  readonly loader: AggregateLoader;
}

const route = routeWith<SsoInitiateRouteDependencies>();

/**
 * OpenID Connect Core 1.0 §4, by GET or POST. `iss` is optional, because tiles of some portals are plain links. `target_link_uri` is
 * accepted and not followed: a sign-in always ends on the sign-in page.
 */
export const initiation = {
  iss: z.string().max(2_048).optional(),
  login_hint: loginHint,
  target_link_uri: z.string().max(4_096).optional(),
};

const DESCRIPTION =
  'The `initiate_login_uri` of OpenID Connect. Redirects to the sign-in page, which goes on to the provider. An `iss` must be the issuer of the enabled configuration.';

interface Initiating {
  readonly iss?: string | undefined;
  readonly login_hint?: string | undefined;
}

/** Where the browser goes on: to the sign-in page, which starts a sign-in or shows why it cannot. */
async function beginning(
  call: Parameters<typeof ssoTenantOf>[0] & { readonly services: SsoInitiateRouteDependencies },
  { iss, login_hint: hint }: Initiating,
): Promise<string> {
  const tenantId = asTenantId(await ssoTenantOf(call));
  const found = enabledConfig(await call.services.loader.load(ssoConfigs, ssoConfigsStream(tenantId)), 'oidc');
  const isItsIssuer = found && (iss === undefined || sameIssuer(iss, found.issuerUrl));
  return isItsIssuer
    ? beginningAddress({ tenant_id: tenantId, sso_start: 'oidc' }, hint)
    : refusalAddress('sso_not_configured', tenantId);
}

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
      operation: 'startPortalSignIn',
      description: DESCRIPTION,
      query: z.object({ ...tenantQuery, ...initiation }),
      status: 302,
      response: { media: 'text/plain' },
      handle: async (call) => redirect(call.reply, 302, await beginning(call, call.query)),
    }),
    route({
      method: 'POST',
      path: OIDC_INITIATE,
      access: openAccess('sso'),
      facesBrowsers: true,
      summary: 'Start a sign-in from the portal of the provider, by form',
      operation: 'startPortalSignInByForm',
      description: DESCRIPTION,
      consumes: 'form',
      query: z.object(tenantQuery),
      body: z.object(initiation),
      status: 303,
      response: { media: 'text/plain' },
      handle: async (call) => redirect(call.reply, 303, await beginning(call, call.body)),
    }),
  ],
};
