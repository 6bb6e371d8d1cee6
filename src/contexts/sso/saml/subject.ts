import { emailField } from '../../identity/domain/password-rule.ts';
import { refuseSaml } from './refused.ts';
import { attribute, childrenOf, onlyChild, SAML, type XmlElement } from './xml.ts';

export const EMAIL_FORMAT = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';

/** The signed-in user, as the provider describes them. */
export interface Subject {
  readonly nameId: string;
  readonly nameIdFormat: string;
  readonly sessionIndex: string | undefined;
  /** All values of all attributes with the same name. */
  readonly attributes: ReadonlyMap<string, readonly string[]>;
}

const MAX_CHARACTERS = 1_024;

/** Reads the subject of an assertion. Throws `SamlRefused`. */
export function subjectOf(assertion: XmlElement): Subject {
  const subject = onlyChild(assertion, SAML, 'Subject');
  const name = subject && onlyChild(subject, SAML, 'NameID');
  const nameId = name ? plainText(name) : '';
  if (!name || nameId === '') refuseSaml('no_subject', 'there is no NameID');
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

/** Only text without child elements: another reader could take the text of a child as part of the name. */
function plainText(element: XmlElement): string {
  const plain = Array.from(element.childNodes).every(({ nodeType }) => nodeType === 3);
  return plain && element.textContent.length <= MAX_CHARACTERS ? element.textContent.trim() : '';
}

/**
 * The e-mail for the account look-up: the configured attribute, or else the NameID if its format is an e-mail.
 * Undefined for more than one value, because the choice would be arbitrary.
 */
export function emailOf(
  { nameId, nameIdFormat, attributes }: Subject,
  emailAttribute: string | null,
): string | undefined {
  const values =
    emailAttribute === null ? (nameIdFormat === EMAIL_FORMAT ? [nameId] : []) : (attributes.get(emailAttribute) ?? []);
  const [email, ...others] = new Set(values);
  // The same validation as for other sign-ins: a look-alike outside ASCII could be folded to another user's address.
  return others.length === 0 && emailField.safeParse(email).success ? email : undefined;
}
