import { z } from 'zod';
import { addressField } from '../../../platform/web-addresses/address-field.ts';
import { wrongIssuerAddress } from './issuer-address.ts';
import { areCertificates, isCertificateBundle, isSigningKey, pemOf, verifiesSignatures } from './saml-material.ts';
import { nameField } from '../../../platform/kernel/name-field.ts';

/** The fields of SSO configurations, for tenants and organizations (OP-131 to OP-134). */
const PEM_CHARACTERS = 32_768;
/** A text that is too long is not parsed. */
const conclusive = { abort: true };

export const DEFAULT_SCOPES = 'openid email profile';
/** Maximum number of configurations per tenant or organization. */
export const MAX_CONFIGS = 100;

/** Also an address that no issuer can have: a test says what to enter instead. */
export const testedIssuerUrl = addressField({ query: false });
/** OpenID Connect Discovery 1.0 §3: an issuer has neither query nor fragment. */
export const issuerUrl = testedIssuerUrl.superRefine((address, { addIssue }) => {
  const message = wrongIssuerAddress(address);
  if (message !== undefined) addIssue({ code: 'custom', message });
});
/** What is sent to providers, or compared with what they send: one line without control characters. */
const oneLine = (max: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(max)
    .refine((text) => !/[\p{Cc}\u2028\u2029]/u.test(text), 'must not contain control characters');
export const clientId = oneLine(512);
export const configName = nameField();
/** The provider made it, and a page showed it: what surrounds it was copied with it. */
export const clientSecret = z.string().trim().min(1).max(4_096);
/** RFC 6749 §3.3. Several spaces in a row are one. */
const SCOPES = /^[\x21\x23-\x5b\x5d-\x7e]+( +[\x21\x23-\x5b\x5d-\x7e]+)*$/;
export const scopes = z
  .string()
  .trim()
  .min(1)
  .max(512)
  .refine((text) => SCOPES.test(text), 'must be scopes with spaces between them')
  .refine((text) => text.split(' ').includes('openid'), 'must contain openid');
/** Normalized to lower case. */
export const emailDomain = z
  .string()
  .trim()
  .toLowerCase()
  .max(253, conclusive)
  .regex(/^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z0-9-]{2,}$/, 'must be a domain');
/** The domains that the provider may vouch for; empty: any domain. */
export const emailDomains = z.array(emailDomain).max(100);

export const clientAuthentications = ['auto', 'client_secret_basic', 'client_secret_post'] as const;
/** How the client secret goes to the token endpoint; `auto` follows the issuer's discovery document. */
export type ClientAuthentication = (typeof clientAuthentications)[number];

/** How to reach and trust an OpenID Connect issuer; the same for tenants and organizations. */
export const issuerTrust = {
  clientAuthentication: z.enum(clientAuthentications),
  /** The owner vouches for e-mails about which the issuer says nothing, within `emailDomains`. */
  emailsVerified: z.boolean(),
  allowPrivateNetwork: z.boolean(),
  caCertificate: z.string().nullable(),
};
const issuerTrustSchema = z.object(issuerTrust);
export type IssuerTrust = z.output<typeof issuerTrustSchema>;
export const DEFAULT_ISSUER_TRUST: IssuerTrust = {
  clientAuthentication: 'auto',
  emailsVerified: false,
  allowPrivateNetwork: false,
  caCertificate: null,
};

export const nameIdFormats = ['emailAddress', 'persistent', 'transient', 'unspecified'] as const;
export const nameIdFormat = z.enum(nameIdFormats);
export type NameIdFormat = (typeof nameIdFormats)[number];
export const entityId = oneLine(1_024);
/** Browsers are sent there: a portal's address may have a fragment. */
export const ssoAddress = addressField({ fragment: true });
/** One certificate, also without the lines around it, or a few while the provider changes its key. */
export const certificateBundle = z
  .string()
  .max(PEM_CHARACTERS, conclusive)
  .overwrite(pemOf)
  .refine(areCertificates, { error: 'must be X.509 certificates in PEM', ...conclusive })
  .refine(isCertificateBundle, { error: 'must have RSA keys of at least 2048 bits, or EC keys', ...conclusive });
/** Certificate authorities of a destination inside a company. */
export const authorityCertificates = certificateBundle;
export const providerCertificates = certificateBundle.refine(verifiesSignatures, 'must hold RSA keys');
export const signingKey = z
  .string()
  .max(PEM_CHARACTERS, conclusive)
  .refine(isSigningKey, 'must be an RSA key of at least 2048 bits or an EC key in PEM');
export const attributeName = oneLine(512);

/** SAML core §8.3: the URNs of the short names. */
export const nameIdFormatUrn: Readonly<Record<NameIdFormat, string>> = {
  emailAddress: 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress',
  persistent: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
  transient: 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient',
  unspecified: 'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified',
};

/** True if a provider may vouch for this e-mail. */
export const coversEmail = (domains: readonly string[], email: string): boolean =>
  domains.length === 0 ||
  domains.includes(
    email
      .slice(email.lastIndexOf('@') + 1)
      .trim()
      .toLowerCase(),
  );
