import { z } from 'zod';
import type { SsoConfigRow } from '../../projections/sso/sso-configs.ts';
import {
  AFTER_LOGOUT,
  OIDC_BACKCHANNEL_LOGOUT,
  OIDC_CALLBACK,
  OIDC_INITIATE,
  SAML_CALLBACK,
  samlEntityId,
} from '../../src/contexts/sso/domain/addresses.ts';
import { issuerTrust, nameIdFormat } from '../../src/contexts/sso/domain/fields.ts';

/** OP-131, without the owner's id. */
export const commonSsoConfigFields = {
  id: z.uuid(),
  name: z.string(),
  isEnabled: z.boolean(),
  emailDomains: z.array(z.string()),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
};
/** OP-132. */
export const oidcConfigFields = {
  protocol: z.literal('oidc'),
  issuerUrl: z.string(),
  clientId: z.string(),
  clientSecretConfigured: z.boolean(),
  scopes: z.string(),
  redirectUri: z.string(),
  /** To register at the provider: after a logout there, and for sign-ins that start there. */
  postLogoutRedirectUri: z.string(),
  initiateLoginUri: z.string(),
  /** To register at the provider, so that it ends sessions here by itself. */
  backchannelLogoutUri: z.string(),
  ...issuerTrust,
};
/** OP-133. */
const samlFields = {
  protocol: z.literal('saml'),
  idpEntityId: z.string(),
  idpSsoUrl: z.string(),
  idpSloUrl: z.string().nullable(),
  /** Where responses to its logout requests go, if not there. */
  idpSloResponseUrl: z.string().nullable(),
  idpCertificate: z.string(),
  spEntityId: z.string(),
  acsUrl: z.string(),
  spSigningKeyConfigured: z.boolean(),
  spCertificate: z.string().nullable(),
  signRequests: z.boolean(),
  nameIdFormat,
  emailAttribute: z.string().nullable(),
};

/**
 * The owner of the configuration. One that an organization created is disabled when the tenant leaves the organization.
 */
const managedBy = z.enum(['tenant', 'organization']);

/** A tenant's SSO configuration without its secret. */
export const ssoConfigView = z
  .discriminatedUnion('protocol', [
    z.object({ tenantId: z.uuid(), managedBy, ...commonSsoConfigFields, ...oidcConfigFields }),
    z.object({ tenantId: z.uuid(), managedBy, ...commonSsoConfigFields, ...samlFields }),
  ])
  .meta({ title: 'SsoConfig' });
export type SsoConfigView = z.output<typeof ssoConfigView>;

export interface SsoConfigWithAddress extends SsoConfigRow {
  readonly tenant_id: string;
  readonly external_base_url: string;
}

export const SELECT_SSO_CONFIGS = `
  select c.*, t.external_base_url
    from sso_configs c
    join tenants t on t.tenant_id = c.tenant_id`;

const oidcAddresses = (base: string, tenantId: string) => ({
  redirectUri: base + OIDC_CALLBACK,
  postLogoutRedirectUri: base + AFTER_LOGOUT,
  initiateLoginUri: `${base}${OIDC_INITIATE}?tenant_id=${tenantId}`,
  backchannelLogoutUri: `${base}${OIDC_BACKCHANNEL_LOGOUT}?tenant_id=${tenantId}`,
});

export function toSsoConfigView(row: SsoConfigWithAddress): SsoConfigView {
  const { tenant_id: tenantId, external_base_url: base, settings, secret_configured: configured } = row;
  const common = {
    id: row.config_id,
    tenantId,
    managedBy: row.managed_by,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
  if (settings.protocol === 'oidc')
    return { ...common, ...settings, clientSecretConfigured: configured, ...oidcAddresses(base, tenantId) };
  return {
    ...common,
    ...settings,
    spSigningKeyConfigured: configured,
    spEntityId: samlEntityId(base, tenantId),
    acsUrl: base + SAML_CALLBACK,
  };
}
