import { refuseSaml } from './refused.ts';
import { signedElement } from './signed-bytes.ts';
import { escaped } from './service-provider.ts';
import { guardSignature } from './signature-guard.ts';
import { decodedXml, guardXml } from './xml-guard.ts';
import { attribute, childrenOf, DS, isNamed, onlyChild, SAML, SAMLP, type XmlElement } from './xml.ts';

/** A session at the provider, as both sides name it in a logout (Core §3.7.1). */
export interface ProviderSession {
  readonly nameId: string;
  readonly nameIdFormat: string;
  readonly sessionIndex: string | undefined;
}

export interface LogoutRequest {
  readonly id: string;
  readonly nameId: string;
  /** Empty: every session of that name. */
  readonly sessionIndexes: readonly string[];
}

const BOUNDS = { elements: 200, depth: 16 };
const SKEW_MS = 3 * 60_000;
/** A request without an end of its own. A replay ends no session that began since: indexes differ. */
const LONGEST_MS = 10 * 60_000;

/** The request in a form: signed as XML, read from the signed bytes. Throws `SamlRefused`. */
export function postedLogoutRequest(base64: string, certificatesPem: readonly string[]): XmlElement {
  const { xml, document } = guardXml(decodedXml(base64), BOUNDS);
  const signature = onlyChild(document.documentElement, DS, 'Signature');
  if (!signature) refuseSaml('signature', 'the request is not signed');
  guardSignature(signature);
  return signedElement(xml, signature, certificatesPem);
}

/** The request in an address, whose octets were signed. Throws `SamlRefused`. */
export const parsedLogoutRequest = (xml: string): XmlElement => guardXml(xml, BOUNDS).document.documentElement;

/** Reads a verified request (Profiles §4.4.4.1). Throws `SamlRefused`. */
export function logoutRequestOf(
  request: XmlElement,
  { idpEntityId, sloUrl, now }: { readonly idpEntityId: string; readonly sloUrl: string; readonly now: number },
): LogoutRequest {
  if (!isNamed(request, SAMLP, 'LogoutRequest') || attribute(request, 'Version') !== '2.0')
    refuseSaml('structure', 'is not a LogoutRequest');
  const text = (element: XmlElement | undefined) => element?.textContent.trim() ?? '';
  if (text(onlyChild(request, SAML, 'Issuer')) !== idpEntityId) refuseSaml('issuer', 'another issuer');
  if ((attribute(request, 'Destination') ?? sloUrl) !== sloUrl) refuseSaml('destination', 'another destination');
  const issued = Date.parse(attribute(request, 'IssueInstant') ?? '');
  const ends = Date.parse(attribute(request, 'NotOnOrAfter') ?? '') || issued + LONGEST_MS;
  if (!(issued <= now + SKEW_MS)) refuseSaml('not_yet_valid', 'not valid yet');
  if (!(Math.min(ends, issued + LONGEST_MS) > now - SKEW_MS)) refuseSaml('expired', 'no longer valid');
  const nameId = text(onlyChild(request, SAML, 'NameID'));
  if (nameId === '') refuseSaml('no_subject', 'there is no NameID');
  return {
    id: attribute(request, 'ID') ?? '',
    nameId,
    sessionIndexes: childrenOf(request, SAMLP, 'SessionIndex').map(text),
  };
}

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
