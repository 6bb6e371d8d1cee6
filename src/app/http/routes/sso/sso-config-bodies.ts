import { z } from 'zod';
import {
  attributeName,
  authorityCertificates,
  certificateBundle,
  clientId,
  clientSecret,
  configName,
  DEFAULT_ISSUER_TRUST,
  DEFAULT_SCOPES,
  emailDomains,
  entityId,
  issuerTrust,
  issuerUrl,
  nameIdFormat,
  providerCertificates,
  scopes,
  signingKey,
  ssoAddress,
  testedIssuerUrl,
  type IssuerTrust,
} from '../../../../contexts/sso/domain/fields.ts';
import { kindsBy } from '../../../../platform/kernel/kinds-by.ts';
import { boundTrust, matchingPair, signingNeedsKey } from '../../../../contexts/sso/domain/field-rules.ts';

const shared = {
  name: configName.optional(),
  emailDomains: emailDomains.optional(),
  isEnabled: z.boolean().optional(),
};

/** How an address that an administrator names may be reached (`DestinationChoice`). */
export const reach = {
  allowPrivateNetwork: issuerTrust.allowPrivateNetwork.optional(),
  caCertificate: authorityCertificates.nullable().optional(),
};
/** OpenID Connect, for tenants and organizations. `protocol` may be left out, as in the interface. */
const trust = {
  clientAuthentication: issuerTrust.clientAuthentication.optional(),
  emailsVerified: issuerTrust.emailsVerified.optional(),
  ...reach,
};
export const oidcSettings = {
  ...shared,
  clientSecret: clientSecret.nullable().optional(),
  scopes: scopes.optional(),
  ...trust,
};
export const newOidcConfig = z
  .object({ protocol: z.literal('oidc').optional(), ...oidcSettings, issuerUrl, clientId })
  .check(boundTrust);

export const samlSettings = {
  ...shared,
  idpSloUrl: ssoAddress.nullable().optional(),
  /** For responses to the provider's logout requests, if they go elsewhere. */
  idpSloResponseUrl: ssoAddress.nullable().optional(),
  spSigningKey: signingKey.nullable().optional(),
  spCertificate: certificateBundle.nullable().optional(),
  signRequests: z.boolean().optional(),
  nameIdFormat: nameIdFormat.optional(),
  emailAttribute: attributeName.nullable().optional(),
};
const samlProvider = { idpEntityId: entityId, idpSsoUrl: ssoAddress, idpCertificate: providerCertificates };
const newSamlConfig = z
  .object({ protocol: z.literal('saml'), ...samlSettings, ...samlProvider })
  .check(signingNeedsKey, matchingPair);

export const newSsoConfig = kindsBy('protocol', [newOidcConfig, newSamlConfig]);
export type NewSsoConfig = z.output<typeof newSsoConfig>;

/** Fields that are left out keep their values. Fields of the other protocol are ignored (choice OP-009). */
export const ssoConfigChanges = z.object({
  ...oidcSettings,
  ...samlSettings,
  ...z.object({ issuerUrl, clientId, ...samlProvider }).partial().shape,
  protocol: z.enum(['oidc', 'saml']).optional(),
});

/** What a test takes: all that a creation takes. */
export const oidcProbe = { ...oidcSettings, issuerUrl: testedIssuerUrl, clientId };
export const ssoConfigProbe = kindsBy('protocol', [
  z.object({ protocol: z.literal('oidc').optional(), ...oidcProbe }).check(boundTrust),
  newSamlConfig,
]);

type GivenTrust = { readonly [Name in keyof IssuerTrust]?: IssuerTrust[Name] | undefined };

/** With defaults for what a new configuration leaves out. */
export const trustOf = ({
  clientAuthentication = DEFAULT_ISSUER_TRUST.clientAuthentication,
  emailsVerified = DEFAULT_ISSUER_TRUST.emailsVerified,
  allowPrivateNetwork = DEFAULT_ISSUER_TRUST.allowPrivateNetwork,
  caCertificate = DEFAULT_ISSUER_TRUST.caCertificate,
}: GivenTrust): IssuerTrust => ({ clientAuthentication, emailsVerified, allowPrivateNetwork, caCertificate });

/** The input of the create command. */
export function draftOf(body: NewSsoConfig, configId: string) {
  const { name, emailDomains: domains = [], isEnabled } = body;
  const common = { configId, emailDomains: domains, isEnabled };
  if (body.protocol === 'saml') {
    const {
      idpEntityId,
      idpSsoUrl,
      idpCertificate,
      idpSloUrl = null,
      idpSloResponseUrl = null,
      spCertificate = null,
      signRequests = false,
      nameIdFormat: format = 'emailAddress',
      emailAttribute = null,
      spSigningKey = null,
    } = body;
    const provider = {
      idpEntityId,
      idpSsoUrl,
      idpCertificate,
      idpSloUrl,
      idpSloResponseUrl,
      spCertificate,
      signRequests,
      nameIdFormat: format,
      emailAttribute,
    };
    return {
      config: { protocol: 'saml' as const, ...common, name: name ?? new URL(idpSsoUrl).hostname, ...provider },
      secret: spSigningKey,
    };
  }
  const { issuerUrl: issuer, clientId: client, scopes: asked = DEFAULT_SCOPES, clientSecret: secret = null } = body;
  return {
    config: {
      protocol: 'oidc' as const,
      ...common,
      name: name ?? new URL(issuer).hostname,
      issuerUrl: issuer,
      clientId: client,
      scopes: asked,
      ...trustOf(body),
    },
    secret,
  };
}
