import { refuseSaml } from './refused.ts';
import { COMMENT, elementsIn, parseXml, TEXT, XmlRefused, type XmlDocument, type XmlElement } from './xml.ts';

/** A document of which there is exactly one reading. Nothing in it has been verified. */
export interface GuardedXml {
  readonly xml: string;
  readonly document: XmlDocument;
  /** In document order. */
  readonly elements: readonly XmlElement[];
}

export interface XmlBounds {
  readonly elements: number;
  readonly depth: number;
}

const XML_NAMESPACE = 'http://www.w3.org/XML/1998/namespace';
/** XML 1.0 §2.5: two hyphens end a comment. */
const COMMENTS = /<!--(?:[^-]|-[^-])*-->/g;

/**
 * Refuses everything that has made two parsers read one document differently: declarations, CDATA and processing
 * instructions; comments beside text; duplicate ids; a rebound `xml` prefix. Throws `SamlRefused`.
 */
export function guardXml(xml: string, bounds: XmlBounds): GuardedXml {
  // "<!" opens declarations, comments and CDATA, and may not occur in an attribute's value (XML 1.0 §3.1).
  const uncommented = xml.replaceAll(COMMENTS, '');
  if (uncommented.includes('<!') || uncommented.replace(/^\s*<\?xml [^?<>]*\?>/, '').includes('<?'))
    refuseSaml('forbidden_markup', 'declarations, CDATA and processing instructions are not accepted');
  const document = parsed(xml);
  const elements = everyElement(document.documentElement, bounds);
  for (const element of elements) {
    guardComments(element);
    guardPrefixes(element);
  }
  guardIds(elements);
  return { xml, document, elements };
}

/** Throws `SamlRefused`. */
export function decodedXml(base64: string): string {
  const packed = base64.replaceAll(/\s/g, '');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(packed)) refuseSaml('malformed', 'is not base64');
  return decodedText(Buffer.from(packed, 'base64'));
}

/** Throws `SamlRefused`. */
export function decodedText(octets: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(octets);
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

/** Limits size and depth, so that later code need not. */
function everyElement(root: XmlElement, bounds: XmlBounds): XmlElement[] {
  const found: XmlElement[] = [];
  const waiting: { element: XmlElement; depth: number }[] = [{ element: root, depth: 1 }];
  while (waiting.length > 0) {
    const { element, depth } = waiting.pop()!;
    found.push(element);
    if (found.length > bounds.elements || depth > bounds.depth) refuseSaml('too_large', 'too many elements');
    for (const child of elementsIn(element).toReversed()) waiting.push({ element: child, depth: depth + 1 });
  }
  return found;
}

/** A comment between elements changes nothing. One beside text splits the text for some readers and not for others. */
function guardComments({ childNodes }: XmlElement): void {
  const nodes = Array.from(childNodes);
  if (
    nodes.some(({ nodeType }) => nodeType === COMMENT) &&
    nodes.some(({ nodeType, textContent }) => nodeType === TEXT && textContent.trim() !== '')
  )
    refuseSaml('forbidden_markup', 'a comment beside text');
  // Also without other text: "<NameID><!-- x --></NameID>" has a value for some readers.
  if (nodes.length > 0 && nodes.every(({ nodeType }) => nodeType === COMMENT))
    refuseSaml('forbidden_markup', 'a comment in the place of text');
}

/** Namespaces in XML §3: the prefixes `xml` and `xmlns` cannot be bound to anything else. */
function guardPrefixes({ attributes }: XmlElement): void {
  for (const { name, value } of Array.from(attributes))
    if (name === 'xmlns:xmlns' || (name === 'xmlns:xml' && value !== XML_NAMESPACE))
      refuseSaml('malformed', 'a reserved prefix is bound');
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
