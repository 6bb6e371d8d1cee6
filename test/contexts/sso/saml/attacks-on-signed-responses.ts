import type { SamlRefusal } from '../../../../src/contexts/sso/saml/refused.ts';
import {
  confirmation,
  messageParts,
  providerShapes,
  signElement,
  soundShapes,
  statements,
  type ProviderStatement,
} from '../../../dsl/saml-documents.ts';
import {
  assertionIn,
  type SamlIdentityProvider,
  type SamlResponseOptions,
  type SigningPair,
} from '../../../dsl/saml-identity-provider.ts';
import type { Attack } from './attack-corpus.ts';

const SIGNATURE = /<ds:Signature [^]*?<\/ds:Signature>/;
const signatureOf = (xml: string): string => SIGNATURE.exec(xml)![0];
const asRoot = (xml: string): string => xml.replace(/(<saml:NameID[^>]*>)[^<]*/, '$1root@t1.example');
/** Another person and another id. */
const forged = (assertion: string): string =>
  asRoot(assertion.replace(SIGNATURE, '').replace(/ ID="[^"]*"/, ' ID="_forged"'));
const inFirst = (xml: string, element: string, what: string): string => {
  const at = xml.indexOf('>', xml.indexOf(`<${element}`)) + 1;
  return xml.slice(0, at) + what + xml.slice(at);
};

/**
 * Attacks on every form that is accepted besides "the assertion is signed, and nothing else is said": a signed response
 * around an unsigned assertion, comments, further audiences and confirmations, no destination, other clocks, key
 * information that is not read.
 */
export function attacksOnSignedResponses(provider: SamlIdentityProvider, stranger: SigningPair): Attack[] {
  type Make = (said: ProviderStatement) => string;
  const attack = (name: string, reason: SamlRefusal, make: Make): Attack => ({
    name,
    reason,
    make: async ({ email, acsUrl, audience, inResponseTo }: SamlResponseOptions) => {
      const { pair, entityId } = provider;
      return Buffer.from(make({ pair, entityId, acsUrl, audience, requestId: inResponseTo!, email })).toString(
        'base64',
      );
    },
  });
  const responseSigned: Make = (said) => {
    const { response, assertion } = messageParts(said, 'samlp:', 'saml:');
    return signElement(response(assertion(statements(said, 'saml:'))), 'Response', said.pair);
  };
  const assertionSigned = soundShapes['no KeyInfo']!;
  const bothSigned: Make = (said) => signElement(assertionSigned(said), 'Response', said.pair);
  const changed = (name: string, reason: SamlRefusal, make: Make, change: (xml: string) => string): Attack =>
    attack(name, reason, (said) => {
      const xml = make(said);
      const attacked = change(xml);
      if (attacked === xml) throw new Error(`nothing was changed: ${name}`);
      return attacked;
    });
  const onResponse = (name: string, reason: SamlRefusal, change: (xml: string) => string): Attack =>
    changed(`signed response: ${name}`, reason, responseSigned, change);
  /** Says something else, properly signed. */
  const saying = (name: string, reason: SamlRefusal, options: (said: ProviderStatement) => object): Attack =>
    attack(name, reason, (said) => {
      const { response, assertion } = messageParts(said, 'samlp:', 'saml:');
      return response(signElement(assertion(statements(said, 'saml:', options(said))), 'Assertion', said.pair));
    });
  const around = (inside: string, xml: string): string =>
    asRoot(xml)
      .replace(/ ID="[^"]*"/, ' ID="_forged"')
      .replace('<samlp:Status>', `${inside}<samlp:Status>`);

  return [
    onResponse('the person was changed', 'signature', asRoot),
    onResponse('an attribute was added', 'signature', (xml) =>
      xml.replace(
        '</saml:Assertion>',
        '<saml:AttributeStatement><saml:Attribute Name="email"><saml:AttributeValue>root@t1.example</saml:AttributeValue></saml:Attribute></saml:AttributeStatement></saml:Assertion>',
      ),
    ),
    onResponse('the assertion was replaced', 'signature', (xml) =>
      xml.replace(assertionIn(xml), forged(assertionIn(xml))),
    ),
    onResponse('a forged assertion before the signed one', 'structure', (xml) =>
      xml.replace(assertionIn(xml), forged(assertionIn(xml)) + assertionIn(xml)),
    ),
    onResponse('a forged assertion after the signed one', 'structure', (xml) =>
      xml.replace(assertionIn(xml), assertionIn(xml) + forged(assertionIn(xml))),
    ),
    onResponse('the signature moved into the assertion', 'structure', (xml) =>
      asRoot(xml.replace(SIGNATURE, '')).replace(
        /(<saml:Assertion [^>]*><saml:Issuer>[^<]*<\/saml:Issuer>)/,
        `$1${signatureOf(xml)}`,
      ),
    ),
    onResponse('the signed response in the extensions of a forged one', 'structure', (xml) =>
      around(`<samlp:Extensions>${xml}</samlp:Extensions>`, xml),
    ),
    onResponse('the signed response in the extensions, its signature in the forged one', 'structure', (xml) =>
      around(`<samlp:Extensions>${xml.replace(SIGNATURE, '')}</samlp:Extensions>`, xml),
    ),
    onResponse('the signed response in the key information of a forged one', 'structure', (xml) =>
      around('', xml).replace('</ds:KeyInfo>', `${xml.replace(SIGNATURE, '')}</ds:KeyInfo>`),
    ),
    onResponse('signed twice', 'structure', (xml) => xml.replace(signatureOf(xml), signatureOf(xml).repeat(2))),
    onResponse('a whole-document reference', 'structure', (xml) => xml.replace(/ URI="#[^"]*"/, ' URI=""')),
    onResponse('canonicalized with comments', 'weak_algorithm', (xml) =>
      xml.replace('"http://www.w3.org/2001/10/xml-exc-c14n#"', '"http://www.w3.org/2001/10/xml-exc-c14n#WithComments"'),
    ),
    onResponse('a stylesheet among its transforms', 'structure', (xml) =>
      xml.replace(
        'http://www.w3.org/2000/09/xmldsig#enveloped-signature',
        'http://www.w3.org/TR/1999/REC-xslt-19991116',
      ),
    ),
    onResponse('authenticated with a shared secret', 'weak_algorithm', (xml) =>
      xml.replace(/Algorithm="[^"]*rsa-sha256"/, 'Algorithm="http://www.w3.org/2001/04/xmldsig-more#hmac-sha256"'),
    ),
    onResponse('no success', 'status', (xml) => xml.replace('status:Success', 'status:Responder')),
    onResponse('for another destination', 'destination', (xml) =>
      xml.replace(/Destination="[^"]*"/, 'Destination="https://evil.example/acs"'),
    ),
    onResponse('a changed issue instant', 'signature', (xml) =>
      xml.replace(/(<samlp:Response [^>]*IssueInstant=")\d{4}/, '$12001'),
    ),
    attack('signed response: without a destination', 'destination', (said) => {
      const { response, assertion } = messageParts(said, 'samlp:', 'saml:');
      return signElement(response(assertion(statements(said, 'saml:')), ''), 'Response', said.pair);
    }),
    attack('a response signed by a stranger', 'signature', (said) => responseSigned({ ...said, pair: stranger })),
    attack("a stranger's response around the provider's assertion", 'signature', (said) =>
      signElement(assertionSigned(said), 'Response', stranger),
    ),
    attack("the provider's response around a stranger's assertion", 'signature', (said) =>
      signElement(assertionSigned({ ...said, pair: stranger }), 'Response', said.pair),
    ),
    changed('both signed, the person changed', 'signature', bothSigned, asRoot),
    changed(
      'both signed, only the signature of the response left, the person changed',
      'signature',
      bothSigned,
      (xml) => asRoot(xml.replace(assertionIn(xml), assertionIn(xml).replace(SIGNATURE, ''))),
    ),
    changed('the destination of an unsigned response', 'destination', assertionSigned, (xml) =>
      xml.replace(/Destination="[^"]*"/, 'Destination=""'),
    ),
    changed('attributes beside the signed assertion', 'schema', assertionSigned, (xml) =>
      xml.replace(
        '</samlp:Response>',
        '<saml:AttributeStatement xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"><saml:Attribute Name="email"><saml:AttributeValue>root@t1.example</saml:AttributeValue></saml:Attribute></saml:AttributeStatement></samlp:Response>',
      ),
    ),
    // The e-mail comes from signed bytes, but a comment that moves text is refused before anybody reads it.
    ...(
      [
        [
          'inside the NameID of a signed response',
          responseSigned,
          (xml: string) => xml.replace(/(<saml:NameID[^>]*>...)/, '$1<!-- -->'),
        ],
        [
          'in place of the NameID',
          assertionSigned,
          (xml: string) => xml.replace(/(<saml:NameID[^>]*>)[^<]*/, '$1<!--x-->'),
        ],
        ['inside the assertion', assertionSigned, (xml: string) => inFirst(xml, 'saml:Conditions', '<!-- x -->')],
        ['inside the audience', assertionSigned, (xml: string) => inFirst(xml, 'saml:Audience>', '<!-- x -->')],
        ['inside the signature', assertionSigned, (xml: string) => inFirst(xml, 'ds:SignedInfo', '<!-- x -->')],
        [
          'inside the signature value',
          assertionSigned,
          (xml: string) => inFirst(xml, 'ds:SignatureValue', '<!-- x -->'),
        ],
        ["inside the response's issuer", assertionSigned, (xml: string) => inFirst(xml, 'saml:Issuer', '<!-- x -->')],
        [
          'with two hyphens',
          assertionSigned,
          (xml: string) => xml.replace('<samlp:Status>', '<!-- a -- b --><samlp:Status>'),
        ],
        ['without an end', assertionSigned, (xml: string) => xml.replace('<samlp:Status>', '<!--><samlp:Status>')],
      ] as const
    ).map(([name, make, change]) => changed(`a comment ${name}`, 'forbidden_markup', make, change)),
    changed(
      'a document type behind a comment',
      'forbidden_markup',
      assertionSigned,
      (xml) => `<!-- x --><!DOCTYPE r>${xml}`,
    ),
    changed('the prefix xml bound anew', 'malformed', assertionSigned, (xml) =>
      xml.replace('<samlp:Status>', '<samlp:Status xmlns:xml="urn:example:evil">'),
    ),
    saying('two restrictions, one of them for another audience', 'audience', ({ audience }) => ({
      audiences: [audience.replaceAll('&', '&amp;'), 'urn:example:other']
        .map((one) => `<saml:AudienceRestriction><saml:Audience>${one}</saml:Audience></saml:AudienceRestriction>`)
        .join(''),
    })),
    saying('two audiences, none of them ours', 'audience', () => ({
      audiences: `<saml:AudienceRestriction>${'<saml:Audience>urn:example:other</saml:Audience>'.repeat(2)}</saml:AudienceRestriction>`,
    })),
    saying('two confirmations, none of which holds', 'not_requested', (said) => ({
      confirmations:
        confirmation(said, 'saml:', { recipient: 'https://evil.example/acs' }) +
        confirmation(said, 'saml:', { inResponseTo: '_another' }),
    })),
    saying('two confirmations that hold only together', 'recipient', (said) => ({
      confirmations:
        confirmation(said, 'saml:', { lifetime: -600 }) +
        confirmation(said, 'saml:', { recipient: 'https://evil.example/acs' }),
    })),
    saying('an encrypted name', 'no_subject', (said) => ({
      nameId: `<saml:EncryptedID>${said.email}</saml:EncryptedID>`,
    })),
    saying('two names in elements', 'no_subject', (said) => ({ nameId: `<b>${said.email}</b>` })),
    attack("a provider's clock five minutes ahead", 'not_yet_valid', (said) =>
      providerShapes['Keycloak, response signed']!({ ...said, now: Date.now() + 300_000 }),
    ),
    attack("a provider's clock an hour behind", 'expired', (said) =>
      providerShapes['Keycloak, response signed']!({ ...said, now: Date.now() - 3_600_000 }),
    ),
    attack('a stranger, under the key name of the provider', 'signature', (said) =>
      providerShapes['Keycloak, response signed']!({ ...said, pair: stranger }),
    ),
  ];
}
