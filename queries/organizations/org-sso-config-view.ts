import { z } from 'zod';
import type { OrgSsoConfigRow } from '../../projections/organizations/org-sso-configs.ts';
import {
  AFTER_LOGOUT,
  ORG_OIDC_BACKCHANNEL_LOGOUT,
  ORG_OIDC_CALLBACK,
  ORG_OIDC_INITIATE,
} from '../../src/contexts/sso/domain/addresses.ts';
import { commonSsoConfigFields, oidcConfigFields } from '../sso/sso-config-view.ts';

/** An organization's SSO configuration without its secret (OP-131, OP-132). */
export const orgSsoConfigView = z
  .object({ organizationId: z.uuid(), ...commonSsoConfigFields, ...oidcConfigFields })
  .meta({ title: 'OrganizationSsoConfig' });
export type OrgSsoConfigView = z.output<typeof orgSsoConfigView>;

export interface OrgSsoConfigWithAddress extends OrgSsoConfigRow {
  readonly tenant_id: string;
  readonly external_base_url: string;
  readonly slug: string;
}

export const SELECT_ORG_SSO_CONFIGS = `
  select c.*, o.external_base_url, o.slug
    from org_sso_configs c
    join organizations o on o.tenant_id = c.tenant_id`;

export const toOrgSsoConfigView = (row: OrgSsoConfigWithAddress): OrgSsoConfigView => ({
  id: row.config_id,
  organizationId: row.tenant_id,
  protocol: 'oidc',
  name: row.name,
  isEnabled: row.is_enabled,
  emailDomains: [...row.email_domains],
  issuerUrl: row.issuer_url,
  clientId: row.client_id,
  clientSecretConfigured: row.client_secret_configured,
  scopes: row.scopes,
  ...row.trust,
  redirectUri: row.external_base_url + ORG_OIDC_CALLBACK,
  postLogoutRedirectUri: row.external_base_url + AFTER_LOGOUT,
  initiateLoginUri: `${row.external_base_url}${ORG_OIDC_INITIATE}?slug=${encodeURIComponent(row.slug)}`,
  backchannelLogoutUri: `${row.external_base_url}${ORG_OIDC_BACKCHANNEL_LOGOUT}?organization_id=${row.tenant_id}`,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});
