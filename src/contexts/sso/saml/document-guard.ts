import { refuseSaml } from './refused.ts';
import { guardSignature } from './signature-guard.ts';
import { succeeded } from './status.ts';
import {
  childrenOf,
  DS,
  elementsIn,
  isNamed,
  onlyChild,
  parseXml,
  SAML,
  SAMLP,
  XmlRefused,
  type XmlDocument,
  type XmlElement,
} from './xml.ts';

/**
 * A response with exactly one possible reading: the signed part and the parsed part cannot differ. Nothing in it has
 * been verified yet.
 */
export interface GuardedResponse {
  readonly xml: string;
  readonly document: XmlDocument;
  readonly response: XmlElement;
  readonly assertion: XmlElement;
  /** The response's own signature, if it is signed as well. */
  readonly responseSignature: XmlElement | undefined;
}

/** A signed assertion with a few dozen attributes has about ten kilobytes. */
const MAX_BASE64 = 256_000;
const MAX_ELEMENTS = 2_000;
const MAX_DEPTH = 32;

/**
 * Refuses everything that has made two parsers read one document differently: declarations, comments, CDATA and
 * processing instructions; a second assertion anywhere; duplicate ids; signatures in places where SAML has none (Core
 * §5.4), or over anything but their parent. Throws `SamlRefused`.
 */
export function guardDocument(base64: string): GuardedResponse {
  if (base64.length > MAX_BASE64) refuseSaml('too_large', 'the response exceeds its limit');
  const xml = decoded(base64);
  // "<!" opens declarations, comments and CDATA, and may not occur in an attribute's value (XML 1.0 §3.1).
  if (xml.includes('<!') || xml.replace(/^<\?xml [^?<>]*\?>/, '').includes('<?')) {
    refuseSaml('forbidden_markup', 'declarations, comments, CDATA and processing instructions are not accepted');
  }
  const document = parsed(xml);
  const response = document.documentElement;
  if (!isNamed(response, SAMLP, 'Response')) refuseSaml('structure', 'the root is not a Response');
  const elements = everyElement(response);
  const assertion = onlyAssertion(response, elements);
  guardIds(elements);
  const signatures = elements.filter((element) => element.localName === 'Signature');
  for (const signature of signatures) {
    if (signature.namespaceURI !== DS || (signature.parentNode !== assertion && signature.parentNode !== response)) {
      refuseSaml('structure', 'a signature is in the wrong place');
    }
    guardSignature(signature);
  }
  if (childrenOf(assertion, DS, 'Signature').length !== 1)
    refuseSaml('signature', 'the assertion does not have exactly one signature');
  if (childrenOf(response, DS, 'Signature').length > 1)
    refuseSaml('structure', 'the response is signed more than once');
  return { xml, document, response, assertion, responseSignature: onlyChild(response, DS, 'Signature') };
}

function decoded(base64: string): string {
  const packed = base64.replaceAll(/[\s]/g, '');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(packed)) refuseSaml('malformed', 'is not base64');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(packed, 'base64'));
  } catch {
    return refuseSaml('malformed', 'is not UTF-8');
  }
}

function parsed(xml: string): XmlDocument {
  try {
    return parseXml(xml);
  } catch (error) {
    if (error instanceof XmlRefused) refuseSaml('malformed', error.message);
    throw error;
  }
}

/** In document order. Limits size and depth, so that later code need not. */
function everyElement(root: XmlElement): XmlElement[] {
  const found: XmlElement[] = [];
  const waiting: { element: XmlElement; depth: number }[] = [{ element: root, depth: 1 }];
  while (waiting.length > 0) {
    const { element, depth } = waiting.pop()!;
    found.push(element);
    if (found.length > MAX_ELEMENTS || depth > MAX_DEPTH) refuseSaml('too_large', 'too many elements');
    for (const child of elementsIn(element).toReversed()) waiting.push({ element: child, depth: depth + 1 });
  }
  return found;
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

/**
 * A signature refers to its parent by id: a second element with that id, under any spelling of the attribute, could
 * replace it.
 */
function guardIds(elements: readonly XmlElement[]): void {
  const seen = new Set<string>();
  for (const { attributes } of elements) {
    for (const { localName, value } of Array.from(attributes)) {
      if (localName.toLowerCase() !== 'id') continue;
      if (seen.has(value)) refuseSaml('structure', 'an id occurs twice');
      seen.add(value);
    }
  }
}
