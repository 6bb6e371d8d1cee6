import type { TenantId } from '../../../platform/kernel/ids.ts';

/** Where providers and browsers find this service: what an administrator enters at the provider. */
export const OIDC_CALLBACK = '/api/v1/auth/sso/callback';
export const ORG_OIDC_CALLBACK = '/api/v1/org/auth/sso/callback';

/** One consumer for all tenants; whose response it is, the relay state says. */
export const SAML_CALLBACK = '/api/v1/auth/saml/callback';

/** Each tenant is a service provider of its own, so that no assertion made for one is any other's audience. */
export const samlEntityId = (externalBaseUrl: string, tenantId: TenantId | string): string =>
  `${externalBaseUrl}/api/v1/auth/saml/metadata?tenant_id=${tenantId}`;
