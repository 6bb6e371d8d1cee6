import { bareCertificate } from './saml-documents.ts';
import { newSigningPair, type SigningPair } from './saml-identity-provider.ts';

const REDIRECT = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect';
const POST = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST';

export interface DescribedProvider {
  readonly entityId?: string;
  readonly ssoUrl?: string;
  readonly sloUrl?: string | null;
  readonly sloResponseUrl?: string;
  readonly pairs?: readonly SigningPair[];
  /** Attributes of the entity, for example `validUntil`. */
  readonly attributes?: string;
  readonly formats?: readonly string[];
}

/** The metadata of an identity provider, in the order and with the bindings of Okta and Keycloak. */
export function samlMetadata({
  entityId = 'urn:example:described',
  ssoUrl = 'https://idp.example/sso',
  sloUrl = null,
  sloResponseUrl,
  pairs = [newSigningPair('described')],
  attributes = '',
  formats = ['urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress'],
}: DescribedProvider = {}): string {
  const keys = pairs.map(
    ({ certificatePem }) =>
      `<md:KeyDescriptor use="signing"><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data><ds:X509Certificate>\n${bareCertificate(certificatePem).replaceAll(/.{64}/g, '$&\n')}\n</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>`,
  );
  const endpoints = (name: string, url: string, more = '') =>
    [POST, REDIRECT].map((binding) => `<md:${name} Binding="${binding}" Location="${url}"${more}/>`).join('');
  const response = sloResponseUrl === undefined ? '' : ` ResponseLocation="${sloResponseUrl}"`;
  return (
    `<?xml version="1.0" encoding="UTF-8"?>\n<!-- kept by the provider -->\n` +
    `<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${entityId}" ${attributes}>` +
    `<md:IDPSSODescriptor WantAuthnRequestsSigned="false" protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">` +
    keys.join('') +
    (sloUrl === null ? '' : endpoints('SingleLogoutService', sloUrl, response)) +
    formats.map((format) => `<md:NameIDFormat>${format}</md:NameIDFormat>`).join('') +
    endpoints('SingleSignOnService', ssoUrl) +
    `</md:IDPSSODescriptor></md:EntityDescriptor>`
  );
}
