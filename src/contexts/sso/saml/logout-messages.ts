import { randomBytes } from 'node:crypto';
import { escaped } from './service-provider.ts';

/** A session at the provider, as both sides name it in a logout (Core §3.7.1). */
export interface ProviderSession {
  readonly nameId: string;
  readonly nameIdFormat: string;
  readonly sessionIndex: string | undefined;
}

/** An id that nobody can guess. */
export const newMessageId = (): string => `_${randomBytes(20).toString('hex')}`;

const NAMESPACES =
  'xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"';

export interface OutgoingMessage {
  /** An NCName. */
  readonly id: string;
  readonly issuer: string;
  readonly destination: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

const envelope = ({ id, destination, now }: OutgoingMessage): string =>
  `${NAMESPACES} ID="${escaped(id)}" Version="2.0" IssueInstant="${new Date(now).toISOString()}" Destination="${escaped(destination)}"`;

export const logoutRequestXml = (
  message: OutgoingMessage,
  { nameId, nameIdFormat, sessionIndex }: ProviderSession,
): string =>
  `<samlp:LogoutRequest ${envelope(message)} Reason="urn:oasis:names:tc:SAML:2.0:logout:user">` +
  `<saml:Issuer>${escaped(message.issuer)}</saml:Issuer>` +
  `<saml:NameID${nameIdFormat ? ` Format="${escaped(nameIdFormat)}"` : ''}>${escaped(nameId)}</saml:NameID>` +
  (sessionIndex === undefined ? '' : `<samlp:SessionIndex>${escaped(sessionIndex)}</samlp:SessionIndex>`) +
  `</samlp:LogoutRequest>`;

export const logoutResponseXml = (message: OutgoingMessage, inResponseTo: string): string =>
  `<samlp:LogoutResponse ${envelope(message)} InResponseTo="${escaped(inResponseTo)}">` +
  `<saml:Issuer>${escaped(message.issuer)}</saml:Issuer>` +
  `<samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></samlp:Status>` +
  `</samlp:LogoutResponse>`;
