import { createRequire } from 'node:module';

/** The part of the DOM that is used here: elements by namespace and name, their attributes, their text. */
export interface XmlElement {
  readonly localName: string;
  readonly namespaceURI: string | null;
  readonly parentNode: XmlElement | null;
  readonly childNodes: ArrayLike<XmlElement>;
  readonly attributes: ArrayLike<{ readonly name: string; readonly localName: string; readonly value: string }>;
  readonly textContent: string;
  readonly nodeType: number;
  getAttribute(name: string): string;
  hasAttribute(name: string): boolean;
  removeChild(child: XmlElement): unknown;
  toString(): string;
}
export interface XmlDocument {
  readonly documentElement: XmlElement;
  toString(): string;
}
interface Parser {
  parseFromString(text: string, mediaType: string): XmlDocument | undefined;
}

type ParserClass = new (options: {
  errorHandler: Record<'warning' | 'error' | 'fatalError', (message: string) => never>;
}) => Parser;

// The library's type declarations would add browser globals to this program, so the used part is declared above.
const require = createRequire(import.meta.url);
const parserClass = (): ParserClass => (require('@xmldom/xmldom') as { DOMParser: ParserClass }).DOMParser;

export const SAML = 'urn:oasis:names:tc:SAML:2.0:assertion';
export const SAMLP = 'urn:oasis:names:tc:SAML:2.0:protocol';
export const DS = 'http://www.w3.org/2000/09/xmldsig#';

export class XmlRefused extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'XmlRefused';
  }
}

const refuse = (): never => {
  throw new XmlRefused('is not well-formed');
};

/**
 * Makes a tolerant parser strict: its warnings are errors here. Otherwise two parsers could read the document
 * differently.
 */
export function parseXml(text: string): XmlDocument {
  const DOMParser = parserClass();
  const document = new DOMParser({
    errorHandler: { warning: refuse, error: refuse, fatalError: refuse },
  }).parseFromString(text, 'text/xml');
  if (!document?.documentElement) refuse();
  return document!;
}

const ELEMENT = 1;
export const TEXT = 3;
export const COMMENT = 8;
export const elementsIn = ({ childNodes }: XmlElement): XmlElement[] =>
  Array.from(childNodes).filter(({ nodeType }) => nodeType === ELEMENT);

export const childrenOf = (parent: XmlElement, namespace: string, name: string): XmlElement[] =>
  elementsIn(parent).filter(({ namespaceURI, localName }) => namespaceURI === namespace && localName === name);

/** The only child with that name; undefined if there is none or more than one. */
export function onlyChild(parent: XmlElement, namespace: string, name: string): XmlElement | undefined {
  const [first, ...others] = childrenOf(parent, namespace, name);
  return others.length === 0 ? first : undefined;
}

export const isNamed = ({ namespaceURI, localName }: XmlElement, namespace: string, name: string): boolean =>
  namespaceURI === namespace && localName === name;

/** Undefined if the attribute is missing; an empty one is a value. */
export const attribute = (element: XmlElement, name: string): string | undefined =>
  element.hasAttribute(name) ? element.getAttribute(name) : undefined;
