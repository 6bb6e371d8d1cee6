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

/** A response that has one shape only: what a signature covers and what is read cannot be two things. Nothing in it is believed yet. */
export interface GuardedResponse {
  readonly xml: string;
  readonly document: XmlDocument;
  readonly response: XmlElement;
  readonly assertion: XmlElement;
  /** Of the response itself, where it is signed as well. */
  readonly responseSignature: XmlElement | undefined;
}

/** A signed assertion with a few dozen attributes has some ten kilobytes. */
const MAX_BASE64 = 256_000;
const MAX_ELEMENTS = 2_000;
const MAX_DEPTH = 32;

/**
 * Refuses everything by which two readers of one document have ever been made to see two: declarations, comments, CDATA,
 * processing instructions, a second assertion anywhere, ids that are not unique, signatures elsewhere than where SAML
 * puts them (Core §5.4) or of something else than their parent. Throws `SamlRefused`.
 */
export function guardDocument(base64: string): GuardedResponse {
  if (base64.length > MAX_BASE64) refuseSaml('too_large', 'the response exceeds its limit');
  const xml = decoded(base64);
  // "<!" opens declarations, comments and CDATA, and has no place in an attribute's value (XML 1.0 §3.1).
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
      refuseSaml('structure', 'a signature stands where none belongs');
    }
    guardSignature(signature);
  }
  if (childrenOf(assertion, DS, 'Signature').length !== 1) refuseSaml('signature', 'the assertion is not signed once');
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

/** In document order; bounded, so that nothing after this has to be. */
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

/** By local name: whatever namespace a look-alike hides in, a reader that ignores namespaces must not find it. */
function onlyAssertion(response: XmlElement, elements: readonly XmlElement[]): XmlElement {
  if (elements.some(({ localName }) => localName === 'EncryptedAssertion'))
    refuseSaml('structure', 'encrypted assertions are not accepted');
  const [assertion, ...others] = elements.filter(({ localName }) => localName === 'Assertion');
  if (!assertion) refuseSaml(succeeded(response) ? 'structure' : 'status', 'there is no assertion');
  if (others.length > 0) refuseSaml('structure', 'there is more than one assertion');
  if (!isNamed(assertion, SAML, 'Assertion') || assertion.parentNode !== response)
    refuseSaml('structure', 'the assertion stands where none belongs');
  return assertion;
}

/** A signature names its parent by id: a second element of that id, under any spelling of the attribute, could take its place. */
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
