import { constants, createHash, sign } from 'node:crypto';
import { createRequire } from 'node:module';
import type { SigningPair } from './saml-identity-provider.ts';

/**
 * SAML messages in the shapes that providers document, with real XML signatures: prefixes, namespace declarations,
 * order and key information differ, and every difference has broken somebody's parser.
 */
export interface ProviderStatement {
  readonly pair: SigningPair;
  readonly entityId: string;
  readonly acsUrl: string;
  readonly audience: string;
  readonly requestId: string;
  readonly email: string;
  /** Epoch milliseconds of the provider's clock. */
  readonly now?: number;
}

interface Signer {
  addReference(options: { xpath: string; digestAlgorithm: string; transforms: string[] }): void;
  computeSignature(xml: string, options: object): void;
  getSignedXml(): string;
  SignatureAlgorithms: object;
  HashAlgorithms: object;
}
const require = createRequire(import.meta.url);
const { SignedXml } = require('xml-crypto') as { SignedXml: new (options: object) => Signer };

const MORE = 'http://www.w3.org/2001/04/xmldsig-more#';
const XENC = 'http://www.w3.org/2001/04/xmlenc#';
const EXCLUSIVE = 'http://www.w3.org/2001/10/xml-exc-c14n#';
const ENVELOPED = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature';

export interface SigningOptions {
  readonly hash?: 'sha256' | 'sha384' | 'sha512';
  readonly padding?: 'pkcs1' | 'pss';
  readonly prefix?: string;
  /** The content of `KeyInfo`, with `ds` bound; undefined for none. By default the certificate. */
  readonly keyInfo?: string | undefined;
}

const SIGNATURES = {
  pkcs1: { sha256: `${MORE}rsa-sha256`, sha384: `${MORE}rsa-sha384`, sha512: `${MORE}rsa-sha512` },
  pss: Object.fromEntries(
    ['sha256', 'sha384', 'sha512'].map((hash) => [hash, `http://www.w3.org/2007/05/xmldsig-more#${hash}-rsa-MGF1`]),
  ) as Record<'sha256' | 'sha384' | 'sha512', string>,
};
const DIGESTS = { sha256: `${XENC}sha256`, sha384: `${MORE}sha384`, sha512: `${XENC}sha512` };

export const bareCertificate = (pem: string): string => pem.replaceAll(/-----[^-]+-----|\s/g, '');

/** Signs the one element with that local name, and puts the signature behind its issuer. */
export function signElement(
  xml: string,
  element: 'Response' | 'Assertion' | 'LogoutRequest' | 'LogoutResponse' | 'EntityDescriptor',
  pair: SigningPair,
  { hash = 'sha256', padding = 'pkcs1', prefix = 'ds', ...rest }: SigningOptions = {},
): string {
  const keyInfo =
    'keyInfo' in rest
      ? rest.keyInfo
      : `<ds:X509Data><ds:X509Certificate>${bareCertificate(pair.certificatePem)}</ds:X509Certificate></ds:X509Data>`;
  const algorithm = SIGNATURES[padding][hash];
  const signer = new SignedXml({
    privateKey: pair.privateKeyPem,
    signatureAlgorithm: algorithm,
    canonicalizationAlgorithm: EXCLUSIVE,
    keyInfoAttributes: { 'xmlns:ds': 'http://www.w3.org/2000/09/xmldsig#' },
    getKeyInfoContent: () => keyInfo ?? null,
  });
  signer.SignatureAlgorithms = {
    [algorithm]: class {
      getSignature(octets: string, key: string): string {
        const scheme =
          padding === 'pss'
            ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
            : {};
        return sign(hash, Buffer.from(octets), { key, ...scheme }).toString('base64');
      }
      getAlgorithmName = () => algorithm;
    },
  };
  signer.HashAlgorithms = {
    [DIGESTS[hash]]: class {
      getHash = (octets: string) => createHash(hash).update(octets).digest('base64');
      getAlgorithmName = () => DIGESTS[hash];
    },
  };
  const xpath = `//*[local-name(.)='${element}']`;
  signer.addReference({ xpath, digestAlgorithm: DIGESTS[hash], transforms: [ENVELOPED, EXCLUSIVE] });
  signer.computeSignature(xml, {
    prefix,
    location: { reference: `${xpath}/*[local-name(.)='Issuer'][1]`, action: 'after' },
  });
  return signer.getSignedXml();
}

export const at = (now: number, seconds: number): string => new Date(now + seconds * 1000).toISOString();

interface Parts {
  readonly response: (inside: string, attributes?: string) => string;
  readonly assertion: (inside: string) => string;
}

const EMAIL_FORMAT = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';
const EMAIL_CLAIM = 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress';
const PASSWORD = 'urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport';

/** A response around an assertion, with the prefixes of one provider ("samlp:", "saml2p:", "" …). */
function parts({ entityId, acsUrl, requestId, now = Date.now() }: ProviderStatement, p: string, a: string): Parts {
  const declared = (prefix: string, namespace: string) =>
    `xmlns${prefix ? `:${prefix.slice(0, -1)}` : ''}="urn:oasis:names:tc:SAML:2.0:${namespace}"`;
  const issuer = `<${a}Issuer ${declared(a, 'assertion')}>${entityId}</${a}Issuer>`;
  return {
    response: (inside, attributes = `Destination="${acsUrl}"`) =>
      `<${p}Response ${declared(p, 'protocol')} ID="_r${requestId}" Version="2.0" IssueInstant="${at(now, 0)}" ${attributes} InResponseTo="${requestId}">` +
      `${issuer}<${p}Status><${p}StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></${p}Status>${inside}</${p}Response>`,
    assertion: (inside) =>
      `<${a}Assertion ${declared(a, 'assertion')} ID="_a${requestId}" Version="2.0" IssueInstant="${at(now, 0)}">` +
      `<${a}Issuer>${entityId}</${a}Issuer>${inside}</${a}Assertion>`,
  };
}

interface AssertionOptions {
  readonly nameId?: string;
  readonly format?: string | null;
  readonly confirmations?: string;
  readonly notBefore?: number;
  readonly lifetime?: number;
  readonly audiences?: string;
  readonly attributes?: readonly (readonly [name: string, ...values: string[]])[];
  readonly nameFormat?: string;
  readonly typed?: boolean;
}

export const confirmation = (
  { acsUrl, requestId, now = Date.now() }: ProviderStatement,
  a = 'saml:',
  { lifetime = 300, recipient = acsUrl, method = 'bearer', inResponseTo = requestId } = {},
): string =>
  `<${a}SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:${method}"><${a}SubjectConfirmationData NotOnOrAfter="${at(now, lifetime)}" Recipient="${recipient}" InResponseTo="${inResponseTo}"/></${a}SubjectConfirmation>`;

/** The statements of an assertion, in the order that the schema asks for. */
export function statements(said: ProviderStatement, a: string, options: AssertionOptions = {}): string {
  const { email, audience, now = Date.now() } = said;
  const {
    nameId = email,
    format = EMAIL_FORMAT,
    notBefore = 0,
    lifetime = 300,
    confirmations = confirmation(said, a, { lifetime }),
    audiences = `<${a}AudienceRestriction><${a}Audience>${audience.replaceAll('&', '&amp;')}</${a}Audience></${a}AudienceRestriction>`,
    attributes = [],
    nameFormat = '',
    typed = false,
  } = options;
  const type = typed
    ? ' xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="xs:string"'
    : '';
  const said_ = attributes.map(
    ([name, ...values]) =>
      `<${a}Attribute Name="${name}"${nameFormat ? ` NameFormat="${nameFormat}"` : ''}>${values
        .map((value) => `<${a}AttributeValue${type}>${value}</${a}AttributeValue>`)
        .join('')}</${a}Attribute>`,
  );
  return (
    `<${a}Subject><${a}NameID${format === null ? '' : ` Format="${format}"`}>${nameId}</${a}NameID>${confirmations}</${a}Subject>` +
    `<${a}Conditions NotBefore="${at(now, notBefore)}" NotOnOrAfter="${at(now, lifetime)}">${audiences}</${a}Conditions>` +
    `<${a}AuthnStatement AuthnInstant="${at(now, 0)}" SessionIndex="_s1"><${a}AuthnContext><${a}AuthnContextClassRef>${PASSWORD}</${a}AuthnContextClassRef></${a}AuthnContext></${a}AuthnStatement>` +
    (said_.length > 0 ? `<${a}AttributeStatement>${said_.join('')}</${a}AttributeStatement>` : '')
  );
}

const URI = 'urn:oasis:names:tc:SAML:2.0:attrname-format:uri';
const BASIC = 'urn:oasis:names:tc:SAML:2.0:attrname-format:basic';
const UNSPECIFIED = 'urn:oasis:names:tc:SAML:2.0:attrname-format:unspecified';
const UNSPECIFIED_NAME = 'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified';
const TRANSIENT_NAME = 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient';

/** Returns the response's XML. */
export type MessageShape = (said: ProviderStatement) => string;

const assertionSigned =
  (p: string, a: string, options: (said: ProviderStatement) => AssertionOptions, signing: SigningOptions = {}) =>
  (said: ProviderStatement): string => {
    const { response, assertion } = parts(said, p, a);
    return response(signElement(assertion(statements(said, a, options(said))), 'Assertion', said.pair, signing));
  };
const responseSigned =
  (p: string, a: string, options: (said: ProviderStatement) => AssertionOptions, signing: SigningOptions = {}) =>
  (said: ProviderStatement): string => {
    const { response, assertion } = parts(said, p, a);
    return signElement(response(assertion(statements(said, a, options(said)))), 'Response', said.pair, signing);
  };
const bothSigned =
  (p: string, a: string, options: (said: ProviderStatement) => AssertionOptions, signing: SigningOptions = {}) =>
  (said: ProviderStatement): string =>
    signElement(assertionSigned(p, a, options, signing)(said), 'Response', said.pair, signing);

const keycloak = () => ({
  format: EMAIL_FORMAT,
  attributes: [['Role', 'offline_access', 'manage-account'] as const],
  nameFormat: BASIC,
  typed: true,
});
const KEYCLOAK_KEY = {
  prefix: 'dsig',
  keyInfo: '<ds:KeyName>FJ86GcF3jTbNLOco4NvZkUCIUmfYCqoqtOQeMfbhNlE</ds:KeyName>',
};

/** What the providers' documentation shows for their defaults. */
export const providerShapes: Readonly<Record<string, MessageShape>> = {
  // learn.microsoft.com, "Single sign-on SAML protocol": unprefixed assertion, claims as addresses.
  'Entra ID': assertionSigned(
    'samlp:',
    '',
    ({ email }) => ({
      format: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
      nameId: 'c2ZiNzk0YzItNjYyNy00',
      notBefore: -300,
      lifetime: 3_900,
      attributes: [
        ['http://schemas.microsoft.com/identity/claims/tenantid', '7c2a1f54-0000-4000-8000-0d0c0b0a0908'],
        ['http://schemas.xmlsoap.org/ws/2005/05/identity/claims/name', email],
        [EMAIL_CLAIM, email],
      ],
    }),
    { prefix: '' },
  ),
  'Okta, both signed': bothSigned('saml2p:', 'saml2:', () => ({
    notBefore: -300,
    attributes: [['firstName', 'Ann']],
    nameFormat: UNSPECIFIED,
    typed: true,
  })),
  'Google, assertion signed': assertionSigned(
    'saml2p:',
    'saml2:',
    () => ({ format: UNSPECIFIED_NAME, notBefore: -300 }),
    {
      keyInfo: undefined,
    },
  ),
  'Google, response signed': responseSigned('saml2p:', 'saml2:', () => ({ format: UNSPECIFIED_NAME, notBefore: -300 })),
  ADFS: assertionSigned(
    'samlp:',
    '',
    ({ email }) => ({
      format: UNSPECIFIED_NAME,
      nameId: 'CONTOSO\\ann',
      lifetime: 3_600,
      attributes: [[EMAIL_CLAIM, email]],
    }),
    { prefix: 'ds' },
  ),
  'Keycloak, response signed': responseSigned('samlp:', 'saml:', keycloak, KEYCLOAK_KEY),
  'Keycloak, assertion signed': assertionSigned('samlp:', 'saml:', keycloak, KEYCLOAK_KEY),
  'Keycloak, both signed': bothSigned('samlp:', 'saml:', keycloak, KEYCLOAK_KEY),
  'SimpleSAMLphp, transient name and attributes': bothSigned('samlp:', 'saml:', ({ email }) => ({
    format: TRANSIENT_NAME,
    nameId: '_0123456789abcdef',
    attributes: [['urn:oid:0.9.2342.19200300.100.1.3', email]],
    nameFormat: URI,
    typed: true,
  })),
  'LemonLDAP::NG, 20 hours, no certificate': assertionSigned('samlp:', 'saml:', () => ({ lifetime: 72_000 }), {
    prefix: '',
    keyInfo:
      '<ds:KeyValue><ds:RSAKeyValue><ds:Modulus>AQAB</ds:Modulus><ds:Exponent>AQAB</ds:Exponent></ds:RSAKeyValue></ds:KeyValue>',
  }),
};

const usual = (options: (said: ProviderStatement) => AssertionOptions, signing: SigningOptions = {}) =>
  assertionSigned('samlp:', 'saml:', options, signing);
const certificates = ({ pair }: ProviderStatement, count: number): string =>
  `<ds:X509Data>${`<ds:X509Certificate>${bareCertificate(pair.certificatePem)}</ds:X509Certificate>`.repeat(count)}</ds:X509Data>`;

/** Sound messages that are less common. */
export const soundShapes: Readonly<Record<string, MessageShape>> = {
  'RSA-SHA384': usual(() => ({}), { hash: 'sha384' }),
  'RSA-SHA512': usual(() => ({}), { hash: 'sha512' }),
  'RSA-SHA256 with MGF1': usual(() => ({}), { padding: 'pss' }),
  'RSA-SHA512 with MGF1': usual(() => ({}), { padding: 'pss', hash: 'sha512' }),
  'no KeyInfo': usual(() => ({}), { keyInfo: undefined }),
  'a certificate chain': (said) => usual(() => ({}), { keyInfo: certificates(said, 3) })(said),
  'a key name only': usual(() => ({}), { keyInfo: '<ds:KeyName>signing</ds:KeyName>' }),
  'a clock three minutes ahead': (said) => usual(() => ({}))({ ...said, now: (said.now ?? Date.now()) + 170_000 }),
  'two audiences, one of them ours': usual(({ audience }) => ({
    audiences: `<saml:AudienceRestriction><saml:Audience>urn:example:other</saml:Audience><saml:Audience>${audience.replaceAll('&', '&amp;')}</saml:Audience></saml:AudienceRestriction>`,
  })),
  'two confirmations, the second of which holds': usual((said) => ({
    confirmations:
      confirmation(said, 'saml:', { recipient: 'https://elsewhere.example/acs' }) + confirmation(said, 'saml:'),
  })),
  'two confirmations, the first of which holds': usual((said) => ({
    confirmations: confirmation(said, 'saml:') + confirmation(said, 'saml:', { method: 'holder-of-key' }),
  })),
  'no destination, unsigned response': (said) => {
    const { response, assertion } = parts(said, 'samlp:', 'saml:');
    return response(signElement(assertion(statements(said, 'saml:')), 'Assertion', said.pair), '');
  },
  'comments outside of the assertion': (said) =>
    `<!-- sent by a proxy -->${usual(() => ({}))(said).replace('<samlp:Status>', '<!-- status --><samlp:Status>')}<!-- end -->`,
  'comments in a signed response': (said) => {
    const { response, assertion } = parts(said, 'samlp:', 'saml:');
    const xml = response(assertion(statements(said, 'saml:')));
    return signElement(xml, 'Response', said.pair).replace('<samlp:Status>', '<!-- status --><samlp:Status>');
  },
  '800 groups': usual(() => ({
    attributes: [
      ['groups', ...Array.from({ length: 800 }, (_, index) => `CN=group-${index},OU=Departments,DC=corp,DC=example`)],
    ],
  })),
  'an XML declaration and line breaks': (said) =>
    `<?xml version="1.0" encoding="UTF-8"?>\n${usual(() => ({}))(said)}\n`,
};

export const messageParts = parts;
