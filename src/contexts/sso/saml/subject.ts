import { emailField } from '../../identity/domain/password-rule.ts';
import { refuseSaml } from './refused.ts';
import { attribute, childrenOf, onlyChild, SAML, type XmlElement } from './xml.ts';

export const EMAIL_FORMAT = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';

/** Whom the provider signed in, in its own words. */
export interface Subject {
  readonly nameId: string;
  readonly nameIdFormat: string;
  readonly sessionIndex: string | undefined;
  /** By name; every value of every attribute of that name. */
  readonly attributes: ReadonlyMap<string, readonly string[]>;
}

const MAX_CHARACTERS = 1_024;

/** Of an assertion that has been verified. Throws `SamlRefused`. */
export function subjectOf(assertion: XmlElement): Subject {
  const subject = onlyChild(assertion, SAML, 'Subject');
  const name = subject && onlyChild(subject, SAML, 'NameID');
  const nameId = name ? plainText(name) : '';
  if (!name || nameId === '') refuseSaml('no_subject', 'nobody is named');
  const [statement] = childrenOf(assertion, SAML, 'AuthnStatement');
  return {
    nameId,
    nameIdFormat: attribute(name, 'Format') ?? '',
    sessionIndex: statement && attribute(statement, 'SessionIndex'),
    attributes: attributesOf(assertion),
  };
}

function attributesOf(assertion: XmlElement): Map<string, readonly string[]> {
  const attributes = new Map<string, readonly string[]>();
  for (const statement of childrenOf(assertion, SAML, 'AttributeStatement')) {
    for (const element of childrenOf(statement, SAML, 'Attribute')) {
      const name = attribute(element, 'Name') ?? '';
      const values = childrenOf(element, SAML, 'AttributeValue').map(plainText);
      attributes.set(name, [...(attributes.get(name) ?? []), ...values]);
    }
  }
  return attributes;
}

/** Text without elements in it: half of a name in a child is a name that somebody else reads in full. */
function plainText(element: XmlElement): string {
  const plain = Array.from(element.childNodes).every(({ nodeType }) => nodeType === 3);
  return plain && element.textContent.length <= MAX_CHARACTERS ? element.textContent.trim() : '';
}

/**
 * The e-mail by which an admin is looked up: the named attribute where one is configured, otherwise the NameID where it
 * is an e-mail by its format. One value only: with two, somebody would have to choose.
 */
export function emailOf(
  { nameId, nameIdFormat, attributes }: Subject,
  emailAttribute: string | null,
): string | undefined {
  const values =
    emailAttribute === null ? (nameIdFormat === EMAIL_FORMAT ? [nameId] : []) : (attributes.get(emailAttribute) ?? []);
  const [email, ...others] = new Set(values);
  // The same form as at every other door: a look-alike outside ASCII would be folded to somebody else's address.
  return others.length === 0 && emailField.safeParse(email).success ? email : undefined;
}
