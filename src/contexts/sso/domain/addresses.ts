import type { TenantId } from '../../../platform/kernel/ids.ts';

/** The addresses at which providers and browsers reach this service. An administrator enters them at the provider. */
export const OIDC_CALLBACK = '/api/v1/auth/sso/callback';
export const ORG_OIDC_CALLBACK = '/api/v1/org/auth/sso/callback';

/** Where providers send browsers after a logout. Providers compare the whole address, so it has no query. */
export const AFTER_LOGOUT = '/login';
/** The addresses of a logout at the provider, to which browsers also send its hint. */
export const OIDC_LOGOUT = '/api/v1/auth/sso/logout';
export const ORG_OIDC_LOGOUT = '/api/v1/org/auth/sso/logout';

/** At which a provider starts a sign-in (OpenID Connect Core 1.0 §4), such as from a tile of its portal. */
export const OIDC_INITIATE = '/api/v1/auth/sso/initiate';
export const ORG_OIDC_INITIATE = '/api/v1/org/auth/sso/initiate';

/** At which a provider ends sessions itself (OpenID Connect Back-Channel Logout 1.0). Each owner has its own address. */
export const OIDC_BACKCHANNEL_LOGOUT = '/api/v1/auth/sso/backchannel-logout';
export const ORG_OIDC_BACKCHANNEL_LOGOUT = '/api/v1/org/auth/sso/backchannel-logout';

/** One assertion consumer for all tenants; the relay state identifies the tenant of a response. */
export const SAML_CALLBACK = '/api/v1/auth/saml/callback';

/** Where the provider of a tenant sends logout messages. */
export const samlLogoutUrl = (externalBaseUrl: string, tenantId: TenantId | string): string =>
  `${externalBaseUrl}/api/v1/auth/saml/logout?tenant_id=${tenantId}`;

/** Each tenant is a separate service provider, so that an assertion for one never has another as its audience. */
export const samlEntityId = (externalBaseUrl: string, tenantId: TenantId | string): string =>
  `${externalBaseUrl}/api/v1/auth/saml/metadata?tenant_id=${tenantId}`;
