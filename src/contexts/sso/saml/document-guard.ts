import { refuseSaml } from './refused.ts';
import { guardSignature } from './signature-guard.ts';
import { succeeded } from './status.ts';
import { decodedXml, guardXml } from './xml-guard.ts';
import { childrenOf, COMMENT, DS, isNamed, onlyChild, SAML, SAMLP, type XmlElement } from './xml.ts';

/**
 * A response with exactly one possible reading: the signed part and the parsed part cannot differ. Nothing in it has
 * been verified yet.
 */
export interface GuardedResponse {
  readonly xml: string;
  readonly response: XmlElement;
  readonly assertion: XmlElement;
  /** At least one of the two is there. */
  readonly responseSignature: XmlElement | undefined;
  readonly assertionSignature: XmlElement | undefined;
}

/** A signed assertion with a few dozen attributes has about ten kilobytes, one with 800 groups about a hundred. */
export const MAX_BASE64 = 256_000;
const BOUNDS = { elements: 2_000, depth: 32 };

/**
 * Refuses everything that has made two parsers read one document differently (`guardXml`), comments within the
 * assertion or a signature; a second assertion anywhere; signatures in places where SAML has none (Core §5.4), or over
 * anything but their parent. Throws `SamlRefused`.
 */
export function guardDocument(base64: string): GuardedResponse {
  if (base64.length > MAX_BASE64) refuseSaml('too_large', 'the response exceeds its limit');
  const { xml, document, elements } = guardXml(decodedXml(base64), BOUNDS);
  const response = document.documentElement;
  if (!isNamed(response, SAMLP, 'Response')) refuseSaml('structure', 'the root is not a Response');
  const assertion = onlyAssertion(response, elements);
  const signatures = elements.filter((element) => element.localName === 'Signature');
  for (const signature of signatures) {
    if (signature.namespaceURI !== DS || (signature.parentNode !== assertion && signature.parentNode !== response))
      refuseSaml('structure', 'a signature is in the wrong place');
    guardSignature(signature);
  }
  refuseCommentsWithin([assertion, ...signatures], elements);
  const responseSignature = onlySignature(response);
  const assertionSignature = onlySignature(assertion);
  if (!responseSignature && !assertionSignature) refuseSaml('signature', 'nothing is signed');
  return { xml, response, assertion, responseSignature, assertionSignature };
}

function onlySignature(signed: XmlElement): XmlElement | undefined {
  if (childrenOf(signed, DS, 'Signature').length > 1) refuseSaml('structure', 'signed more than once');
  return onlyChild(signed, DS, 'Signature');
}

/** By local name: a reader that ignores namespaces must not find a second assertion in any namespace. */
function onlyAssertion(response: XmlElement, elements: readonly XmlElement[]): XmlElement {
  if (elements.some(({ localName }) => localName === 'EncryptedAssertion'))
    refuseSaml('structure', 'encrypted assertions are not accepted');
  const [assertion, ...others] = elements.filter(({ localName }) => localName === 'Assertion');
  if (!assertion) refuseSaml(succeeded(response) ? 'structure' : 'status', 'there is no assertion');
  if (others.length > 0) refuseSaml('structure', 'there is more than one assertion');
  if (!isNamed(assertion, SAML, 'Assertion') || assertion.parentNode !== response)
    refuseSaml('structure', 'the assertion is in the wrong place');
  return assertion;
}

/** Nobody has a reason to comment there, and signed bytes contain no comments. */
function refuseCommentsWithin(parts: readonly XmlElement[], elements: readonly XmlElement[]): void {
  const isWithin = (element: XmlElement | null): boolean =>
    element !== null && (parts.includes(element) || isWithin(element.parentNode));
  for (const element of elements)
    if (Array.from(element.childNodes).some(({ nodeType }) => nodeType === COMMENT) && isWithin(element))
      refuseSaml('forbidden_markup', 'a comment in signed data');
}
