import { X509Certificate } from 'node:crypto';

/** This service as one provider knows it. */
export interface ServiceProvider {
  readonly entityId: string;
  /** Assertion consumer service: the address that responses are posted to. */
  readonly acsUrl: string;
  /** Single logout service: the address of logout messages, by redirect or form. */
  readonly sloUrl: string;
  readonly nameIdFormat: string;
  /** PEM; requests for a sign-in are signed if it is set. */
  readonly signingKey: string | undefined;
  /** PEM of the certificate for our key, with which the provider verifies requests and logout messages. */
  readonly certificate: string | undefined;
}

export const POST_BINDING = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST';

const REDIRECT_BINDING = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect';

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};
export const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character]!);

/**
 * SAML 2.0 Metadata §2.4.4, for an administrator of the provider to import. Without an encryption key: assertions are
 * not encrypted, except by TLS.
 */
export function serviceProviderMetadata({
  entityId,
  acsUrl,
  sloUrl,
  nameIdFormat,
  signingKey,
  certificate,
}: ServiceProvider): string {
  const key = certificate
    ? `<md:KeyDescriptor use="signing"><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data><ds:X509Certificate>${new X509Certificate(certificate).raw.toString('base64')}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>`
    : '';
  return (
    `<?xml version="1.0" encoding="UTF-8"?>\n` +
    `<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${escaped(entityId)}">` +
    `<md:SPSSODescriptor AuthnRequestsSigned="${signingKey !== undefined}" WantAssertionsSigned="true" protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">` +
    key +
    [REDIRECT_BINDING, POST_BINDING]
      .map((binding) => `<md:SingleLogoutService Binding="${binding}" Location="${escaped(sloUrl)}"/>`)
      .join('') +
    `<md:NameIDFormat>${escaped(nameIdFormat)}</md:NameIDFormat>` +
    `<md:AssertionConsumerService Binding="${POST_BINDING}" Location="${escaped(acsUrl)}" index="0" isDefault="true"/>` +
    `</md:SPSSODescriptor></md:EntityDescriptor>\n`
  );
}
