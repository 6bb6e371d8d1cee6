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

const UNSPECIFIED_FORMAT = 'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified';

/** How providers call the attribute by their defaults or their documentation. */
const EMAIL_ATTRIBUTES = [
  'email',
  'mail',
  'emailAddress',
  'User.email',
  // LDAP `mail` (RFC 4524), as Shibboleth and SimpleSAMLphp name it.
  'urn:oid:0.9.2342.19200300.100.1.3',
  // Entra ID and ADFS.
  'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress',
];

/** The same validation as for other sign-ins: a look-alike outside ASCII could be folded to another user's address. */
const isEmail = (text: string | undefined): text is string => emailField.safeParse(text).success;

/**
 * The e-mail for the account look-up (decision 0083): the configured attribute. Or else the NameID, if its format is an
 * e-mail; or else a well-known attribute; or else a NameID whose format says nothing. Undefined for more than one value,
 * because the choice would be arbitrary. A persistent or transient NameID is never an e-mail, whatever it looks like.
 */
export function emailOf(subject: Subject, emailAttribute: string | null): string | undefined {
  const { nameId, nameIdFormat, attributes } = subject;
  if (emailAttribute !== null) return onlyEmail(attributes.get(emailAttribute) ?? []);
  if (nameIdFormat === EMAIL_FORMAT && isEmail(nameId)) return nameId;
  const named = EMAIL_ATTRIBUTES.flatMap((name) => attributes.get(name) ?? []);
  if (named.length > 0) return onlyEmail(named);
  const saysNothing = nameIdFormat === '' || nameIdFormat === UNSPECIFIED_FORMAT;
  return saysNothing ? onlyEmail([nameId]) : undefined;
}

function onlyEmail(values: readonly string[]): string | undefined {
  const [email, ...others] = new Set(values);
  return others.length === 0 && isEmail(email) ? email : undefined;
}
