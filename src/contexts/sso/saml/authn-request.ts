import { createPrivateKey, sign } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import { escaped, POST_BINDING, type ServiceProvider } from './service-provider.ts';

export interface AuthnRequest {
  /** An NCName; the response contains it as `InResponseTo`. */
  readonly id: string;
  /** Opaque to the provider and returned with the response; at most 80 octets (Bindings §3.4.3). */
  readonly relayState: string;
  /** Epoch milliseconds. */
  readonly now: number;
  /** `ForceAuthn` (Core §3.4.1): the provider must not rely on an existing session of the user. */
  readonly reauthenticates?: boolean;
}

const SIGNATURE_METHODS: Readonly<Record<string, string>> = {
  rsa: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
  ec: 'http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256',
};

/**
 * The address that a browser is redirected to for sign-in (HTTP-Redirect binding, Bindings §3.4). The request is signed
 * if the service has a key.
 */
export function authnRequestAddress(provider: ServiceProvider, ssoUrl: string, request: AuthnRequest): string {
  const xml = authnRequest(provider, ssoUrl, request);
  const parameters = [
    ['SAMLRequest', deflateRawSync(xml).toString('base64')],
    ['RelayState', request.relayState],
  ];
  const { signingKey } = provider;
  const address = new URL(ssoUrl);
  const query = [address.search.slice(1), encoded(parameters)].filter(Boolean).join('&');
  if (!signingKey) {
    address.search = query;
    return address.href;
  }
  const key = createPrivateKey(signingKey);
  const method = SIGNATURE_METHODS[key.asymmetricKeyType ?? ''];
  if (!method) throw new TypeError('requests are signed with RSA or EC keys');
  // The signature covers the octets as sent (§3.4.4.1). XML signatures concatenate r and s.
  const signed = encoded([...parameters, ['SigAlg', method]]);
  const signature = sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' }).toString('base64');
  address.search = [address.search.slice(1), signed, encoded([['Signature', signature]])].filter(Boolean).join('&');
  return address.href;
}

const encoded = (parameters: readonly (readonly string[])[]): string =>
  parameters.map(([name, value]) => `${name}=${encodeURIComponent(value!)}`).join('&');

const authnRequest = (
  { entityId, acsUrl, nameIdFormat }: ServiceProvider,
  ssoUrl: string,
  { id, now, reauthenticates }: AuthnRequest,
): string =>
  `<samlp:AuthnRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"` +
  ` ID="${escaped(id)}" Version="2.0" IssueInstant="${new Date(now).toISOString()}" Destination="${escaped(ssoUrl)}"` +
  (reauthenticates ? ' ForceAuthn="true"' : '') +
  ` ProtocolBinding="${POST_BINDING}" AssertionConsumerServiceURL="${escaped(acsUrl)}">` +
  `<saml:Issuer>${escaped(entityId)}</saml:Issuer>` +
  `<samlp:NameIDPolicy Format="${escaped(nameIdFormat)}" AllowCreate="false"/>` +
  `</samlp:AuthnRequest>`;
