import { randomBytes } from 'node:crypto';
import type { SamlRefusal } from './refused.ts';
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

const STATUS = 'urn:oasis:names:tc:SAML:2.0:status:';
const statusCode = (code: string, second = ''): string =>
  `<samlp:StatusCode Value="${STATUS}${code}"${second ? `>${second}</samlp:StatusCode>` : '/>'}`;

/** Core §3.2.2.2: the fault is the request's, and we could have done what it asks for. The reason helps at the provider. */
const statusOf = (refusal: SamlRefusal | undefined): string =>
  refusal === undefined
    ? statusCode('Success')
    : `${statusCode('Requester', statusCode('RequestDenied'))}<samlp:StatusMessage>${refusal}</samlp:StatusMessage>`;

export interface LogoutOutcome {
  /** The id of the request; undefined if a response cannot name it. */
  readonly requestId: string | undefined;
  /** Undefined: the sessions have ended. */
  readonly refusal?: SamlRefusal;
}

export const logoutResponseXml = (message: OutgoingMessage, { requestId, refusal }: LogoutOutcome): string =>
  `<samlp:LogoutResponse ${envelope(message)}${requestId === undefined ? '' : ` InResponseTo="${escaped(requestId)}"`}>` +
  `<saml:Issuer>${escaped(message.issuer)}</saml:Issuer>` +
  `<samlp:Status>${statusOf(refusal)}</samlp:Status>` +
  `</samlp:LogoutResponse>`;
