import { instantIn } from './instant.ts';
import { refuseSaml } from './refused.ts';
import { guardSignature } from './signature-guard.ts';
import { signedElement } from './signed-bytes.ts';
import { decodedXml, guardXml } from './xml-guard.ts';
import { attribute, childrenOf, DS, isNamed, onlyChild, SAML, SAMLP, type XmlElement } from './xml.ts';

export interface LogoutRequest {
  readonly id: string;
  readonly nameId: string;
  /** Empty: every session of that name. */
  readonly sessionIndexes: readonly string[];
  /** By the provider's clock, in epoch milliseconds. */
  readonly issuedAt: number;
  /** Only sessions that began before are meant, in epoch milliseconds. */
  readonly begunBefore: number;
  /**
   * Until when the request is remembered, in epoch milliseconds: longer than it counts, and than a sign-in that began
   * before it may take.
   */
  readonly rememberedUntil: number;
}

const BOUNDS = { elements: 200, depth: 16 };
/** How far the provider's clock may be behind. */
const SKEW_MS = 60_000;
/** How far it may be ahead. That lengthens no validity, so it can be more. */
const AHEAD_MS = 3 * 60_000;
/** How long after the request a session may have begun that is meant. */
const BEGUN_AFTER_MS = 3 * 60_000;
/** How long a request counts. A browser delivers it within seconds. */
const LONGEST_MS = 10 * 60_000;
/** An `xs:ID`, of a length that nobody needs. */
export const LOGOUT_ID = /^[\p{L}_][\p{L}\p{M}\p{N}._·-]{0,255}$/u;

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
  if (text(onlyChild(request, SAML, 'Issuer')) !== idpEntityId) refuseSaml('issuer', 'another issuer');
  // Required in signed messages (Bindings §3.4.5.2, §3.5.5.2): one provider signs for many services with one key.
  if (attribute(request, 'Destination') !== sloUrl) refuseSaml('destination', 'another destination');
  const id = attribute(request, 'ID') ?? '';
  if (!LOGOUT_ID.test(id)) refuseSaml('structure', 'there is no ID');
  const nameId = text(onlyChild(request, SAML, 'NameID'));
  if (nameId === '') refuseSaml('no_subject', 'there is no NameID');
  const sessionIndexes = childrenOf(request, SAMLP, 'SessionIndex').map(text);
  return { id, nameId, sessionIndexes, ...windowOf(request, now) };
}

function windowOf(
  request: XmlElement,
  now: number,
): Pick<LogoutRequest, 'issuedAt' | 'begunBefore' | 'rememberedUntil'> {
  const issued = instantIn(request, 'IssueInstant');
  const ends = request.hasAttribute('NotOnOrAfter') ? instantIn(request, 'NotOnOrAfter') : Number.POSITIVE_INFINITY;
  const rememberedUntil = issued + LONGEST_MS + SKEW_MS;
  if (issued > now + AHEAD_MS) refuseSaml('not_yet_valid', 'not valid yet');
  if (Math.min(ends + SKEW_MS, rememberedUntil) <= now) refuseSaml('expired', 'no longer valid');
  return { issuedAt: issued, begunBefore: issued + BEGUN_AFTER_MS, rememberedUntil };
}

const text = (element: XmlElement | undefined): string => element?.textContent.trim() ?? '';
