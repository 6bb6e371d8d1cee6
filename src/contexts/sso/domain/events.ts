import { z } from 'zod';
import { defineEvents, type EventOf } from '../../../platform/kernel/event.ts';
import { uuid } from '../../../platform/kernel/ids.ts';
import { DEFAULT_ISSUER_TRUST, issuerTrust, nameIdFormats } from './fields.ts';

const common = {
  configId: uuid(),
  name: z.string(),
  isEnabled: z.boolean(),
  emailDomains: z.array(z.string()),
  /** A vault reference to the protocol's only secret: the client secret, or the service provider's signing key. */
  secretRef: uuid().nullable(),
};
const oidc = z.object({
  protocol: z.literal('oidc'),
  ...common,
  issuerUrl: z.string(),
  clientId: z.string(),
  scopes: z.string(),
  ...issuerTrust,
});
const saml = z.object({
  protocol: z.literal('saml'),
  ...common,
  idpEntityId: z.string(),
  idpSsoUrl: z.string(),
  idpSloUrl: z.string().nullable(),
  /** Where responses to its logout requests go, if not there. */
  idpSloResponseUrl: z.string().nullable(),
  /** PEM; several certificates while the provider changes its key. */
  idpCertificate: z.string(),
  spCertificate: z.string().nullable(),
  signRequests: z.boolean(),
  nameIdFormat: z.enum(nameIdFormats),
  emailAttribute: z.string().nullable(),
});
/** Always the complete configuration, even after a partial update, so that readers need no earlier event. */
const config = z.discriminatedUnion('protocol', [oidc, saml]);
/** Configurations from before an issuer's trust could be chosen. */
const withDefaultTrust = (data: object) =>
  'protocol' in data && data.protocol === 'oidc' ? { ...DEFAULT_ISSUER_TRUST, ...data } : data;
/** Configurations from before a provider could have an address of its own for responses. */
const withoutResponseAddress = (data: object) =>
  'protocol' in data && data.protocol === 'saml' ? { idpSloResponseUrl: null, ...data } : data;
const upcasters = { 1: withDefaultTrust, 2: withoutResponseAddress };
const about = { resource: 'sso_config', id: 'configId' } as const;

export type OidcConfig = z.output<typeof oidc>;
export type SamlConfig = z.output<typeof saml>;
export type SsoConfig = OidcConfig | SamlConfig;
export type SsoProtocol = SsoConfig['protocol'];

/**
 * A tenant's identity providers, in one stream per tenant, because "at most one enabled" is a rule over all of them.
 */
export const ssoEvents = defineEvents('sso', {
  SsoConfigCreated: { version: 3, schema: config, upcasters, about, audit: 'sso_config.created' },
  SsoConfigUpdated: { version: 3, schema: config, upcasters, about, audit: 'sso_config.updated' },
  SsoConfigDeleted: { version: 1, schema: z.object({ configId: uuid() }), about, audit: 'sso_config.deleted' },
});
export type SsoEvent = EventOf<typeof ssoEvents>;
