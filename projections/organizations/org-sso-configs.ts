import { type IssuerTrust } from '../../src/contexts/sso/domain/fields.ts';
import { organizationEvents, type OrganizationEvent } from '../../src/contexts/organizations/domain/events.ts';
import {
  at,
  defineReadModel,
  flag,
  id,
  json,
  text,
  timestamp,
  type Row,
} from '../../src/platform/kernel/read-model.ts';

const columns = {
  config_id: id,
  name: text,
  issuer_url: text,
  client_id: text,
  client_secret_configured: flag,
  scopes: text,
  email_domains: json<readonly string[]>(),
  is_enabled: flag,
  trust: json<IssuerTrust>(),
  created_at: timestamp,
  updated_at: timestamp,
};
export type OrgSsoConfigRow = Row<{ columns: typeof columns }>;

type Config = Extract<OrganizationEvent, { type: 'OrgSsoConfigCreated' }>['data'];

const described = ({
  configId,
  name,
  issuerUrl,
  clientId,
  clientSecretRef,
  scopes,
  emailDomains,
  isEnabled,
  clientAuthentication,
  emailsVerified,
  allowPrivateNetwork,
  caCertificate,
}: Config) => ({
  config_id: configId,
  name,
  issuer_url: issuerUrl,
  client_id: clientId,
  client_secret_configured: clientSecretRef !== null,
  scopes,
  email_domains: emailDomains,
  is_enabled: isEnabled,
  trust: { clientAuthentication, emailsVerified, allowPrivateNetwork, caCertificate },
});

/**
 * An organization's OpenID Connect providers, as `GET /org/sso-configs` shows them. Shows whether a secret is set,
 * never its reference.
 */
export const orgSsoConfigs = defineReadModel({
  name: 'org_sso_configs',
  version: 2,
  lane: 'main',
  columns,
  key: ['config_id'],
  families: [organizationEvents],
  on: {
    OrgSsoConfigCreated: (event) => ({
      key: { config_id: event.data.configId },
      fold: () => ({ ...described(event.data), created_at: at(event), updated_at: at(event) }),
    }),
    OrgSsoConfigUpdated: (event) => ({
      key: { config_id: event.data.configId },
      fold: (row) => row && { ...described(event.data), created_at: row.created_at, updated_at: at(event) },
    }),
    OrgSsoConfigDeleted: (event) => ({ key: { config_id: event.data.configId }, fold: () => undefined }),
  },
});
