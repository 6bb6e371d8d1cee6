import { redirectAddress } from './redirect-binding.ts';
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

/**
 * The address that a browser is redirected to for sign-in (HTTP-Redirect binding, Bindings §3.4). The request is signed
 * if the service has a key for it.
 */
export const authnRequestAddress = (provider: ServiceProvider, ssoUrl: string, request: AuthnRequest): string =>
  redirectAddress(ssoUrl, {
    parameter: 'SAMLRequest',
    xml: authnRequest(provider, ssoUrl, request),
    relayState: request.relayState,
    signingKey: provider.signingKey,
  });

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
