import type { SamlRefusal } from '../../../../src/contexts/sso/saml/refused.ts';
import {
  assertionIn,
  signatureIn,
  signed,
  type SamlResponseOptions,
  type SamlIdentityProvider,
  type SigningPair,
} from '../../../dsl/saml-identity-provider.ts';

import { attacksOnSignedResponses } from './attacks-on-signed-responses.ts';

export interface Attack {
  readonly name: string;
  readonly reason: SamlRefusal;
  /** The base64 response that claims these options. */
  readonly make: (said: SamlResponseOptions) => Promise<string>;
}

const base64 = (xml: string): string => Buffer.from(xml).toString('base64');
const idOf = (assertionXml: string): string => /\sID="([^"]+)"/.exec(assertionXml)![1]!;
const later = (seconds: number): string => new Date(Date.now() + seconds * 1000).toISOString();

/** Inserts text between the first letters of the person's name and the rest. */
const inName = (xml: string, what: string): string => xml.replace(/(<saml:NameID[^>]*>[^<]{3})/, `$1${what}`);

/** The attacker's assertion: another person and another id, without a signature. */
const forged = (assertionXml: string): string =>
  assertionXml
    .replace(signatureIn(assertionXml), '')
    .replace(/(<saml:NameID[^>]*>)[^<]*/, '$1root@t1.example')
    .replace(idOf(assertionXml), '_forged');

/**
 * Every known way to make a service provider accept unsigned content: wrapping in the eight variants of Somorovsky et
 * al. ("On Breaking SAML", 2012), and the effects of each omitted check of SAML Profiles §4.1.4.
 */
export function attackCorpus(provider: SamlIdentityProvider, stranger: SigningPair): Attack[] {
  const responding = (name: string, reason: SamlRefusal, over: Partial<SamlResponseOptions>): Attack => ({
    name,
    reason,
    make: async (said) => base64(await provider.respond({ ...said, ...over })),
  });
  const changing = (
    name: string,
    reason: SamlRefusal,
    change: (xml: string, said: SamlResponseOptions) => string,
    over: Partial<SamlResponseOptions> = {},
  ): Attack => ({
    name,
    reason,
    make: async (said) => {
      const xml = await provider.respond({ ...said, ...over });
      const changed = change(xml, said);
      if (changed === xml) throw new Error(`nothing was changed: ${name}`);
      return base64(changed);
    },
  });
  /** Moves the signed assertion, and inserts a forged one. */
  const wrapping = (
    name: string,
    place: (parts: { xml: string; original: string; evil: string; signature: string; bare: string }) => string,
    reason: SamlRefusal = 'structure',
  ): Attack =>
    changing(name, reason, (xml) => {
      const original = assertionIn(xml);
      const signature = signatureIn(original);
      return place({ xml, original, evil: forged(original), signature, bare: original.replace(signature, '') });
    });
  const wrappedResponse = (xml: string, inside: (signature: string, original: string) => string): string => {
    const signature = signatureIn(xml);
    const evil = xml.replace(/ID="[^"]+"/, 'ID="_forged"').replace(/(<saml:NameID[^>]*>)[^<]*/, '$1root@t1.example');
    return evil.replace(signature, inside(signature, xml.replace(signature, '')));
  };
  const afterIssuer = (assertion: string, what: string) => assertion.replace('</saml:Issuer>', `</saml:Issuer>${what}`);

  return [
    changing(
      'XSW1: the signed response inside the signature of a forged one',
      'structure',
      (xml) =>
        wrappedResponse(xml, (signature, original) => signature.replace('</Signature>', `${original}</Signature>`)),
      { signResponse: true, signAssertion: false },
    ),
    changing(
      'XSW2: the signed response beside the signature in a forged one',
      'structure',
      (xml) => wrappedResponse(xml, (signature, original) => `${original}${signature}`),
      { signResponse: true, signAssertion: false },
    ),
    wrapping('XSW3: a forged assertion before the signed one', ({ xml, original, evil }) =>
      xml.replace(original, evil + original),
    ),
    wrapping('XSW3b: a forged assertion after the signed one', ({ xml, original, evil }) =>
      xml.replace(original, original + evil),
    ),
    wrapping('XSW4: the signed assertion inside a forged one', ({ xml, original, evil }) =>
      xml.replace(original, evil.replace('</saml:Assertion>', `${original}</saml:Assertion>`)),
    ),
    wrapping(
      'XSW5: the signature moved to a forged assertion, the signed one at the end',
      ({ xml, original, evil, signature, bare }) => xml.replace(original, afterIssuer(evil, signature) + bare),
    ),
    wrapping(
      'XSW6: the signed assertion inside the signature of a forged one',
      ({ xml, original, evil, signature, bare }) =>
        xml.replace(original, afterIssuer(evil, signature.replace('</Signature>', `${bare}</Signature>`))),
    ),
    wrapping('XSW7: a forged assertion in Extensions', ({ xml, original, evil }) =>
      xml
        .replace('<samlp:Status>', `<samlp:Extensions>${evil}</samlp:Extensions><samlp:Status>`)
        .replace(original, original),
    ),
    wrapping('XSW8: the signed assertion in an Object of the signature', ({ xml, original, evil, signature, bare }) =>
      xml.replace(
        original,
        afterIssuer(evil, signature.replace('</Signature>', `<Object>${bare}</Object></Signature>`)),
      ),
    ),
    wrapping('an assertion of no namespace', ({ xml, original }) => xml.replace(original, `<Assertion/>${original}`)),
    wrapping('the id of the signed assertion on a second element', ({ xml, original, bare }) =>
      xml.replace('<samlp:Status>', `<samlp:Status id="${idOf(bare)}">`).replace(original, original),
    ),
    wrapping('two signed assertions', ({ xml, original }) =>
      xml.replace(original, original + signed(forged(original), provider.pair)),
    ),
    responding('no signature at all', 'signature', { signAssertion: false }),
    changing(
      'the signature of the response is wrong, that of the assertion right',
      'signature',
      (xml) => xml.replace(/(<samlp:Response [^>]*IssueInstant=")[^"]*/, `$1${later(-1)}`),
      { signResponse: true },
    ),
    changing('the person was changed after signing', 'signature', (xml) =>
      xml.replace(/(<saml:NameID[^>]*>)[^<]*/, '$1root@t1.example'),
    ),
    changing('a comment inside the NameID', 'forbidden_markup', (xml) => inName(xml, '<!---->')),
    changing('CDATA inside the NameID', 'forbidden_markup', (xml) => inName(xml, '<![CDATA[x]]>')),
    changing('a processing instruction', 'forbidden_markup', (xml) =>
      xml.replace('<samlp:Status>', '<?php x?><samlp:Status>'),
    ),
    changing(
      'a document type',
      'forbidden_markup',
      (xml) => `<!DOCTYPE Response SYSTEM "http://127.0.0.1:9/x.dtd">${xml}`,
    ),
    changing(
      'entities that multiply',
      'forbidden_markup',
      (xml) => `<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>${inName(xml, '&b;')}`,
    ),
    changing('an entity that nobody declared', 'malformed', (xml) => inName(xml, '&nbsp;')),
    changing('an element that is not closed', 'malformed', (xml) => xml.replace('</samlp:Response>', '')),
    { name: 'not base64', reason: 'malformed', make: async () => '<Response/>' },
    {
      name: 'not UTF-8',
      reason: 'malformed',
      make: async () => Buffer.from([0x3c, 0xff, 0xfe, 0x3e]).toString('base64'),
    },
    changing('not a response', 'structure', (xml) => xml.replaceAll('samlp:Response', 'samlp:LogoutResponse')),
    changing('more than the limit', 'too_large', (xml) =>
      xml.replace('<samlp:Status>', `<samlp:Status>${' '.repeat(300_000)}`),
    ),
    changing('more elements than the limit', 'too_large', (xml) =>
      xml.replace('<samlp:Status>', `<samlp:Status>${'<a/>'.repeat(5_000)}`),
    ),
    changing('nested deeper than the limit', 'too_large', (xml) =>
      xml.replace('<samlp:Status>', `<samlp:Status>${'<a>'.repeat(500)}${'</a>'.repeat(500)}`),
    ),
    changing('an element that the schema does not know', 'schema', (xml) =>
      xml.replace('<samlp:Status>', '<samlp:Role>admin</samlp:Role><samlp:Status>'),
    ),
    changing('an encrypted assertion', 'structure', (xml) =>
      xml.replaceAll('saml:Assertion', 'saml:EncryptedAssertion'),
    ),
    responding('signed with SHA-1', 'weak_algorithm', { signatureAlgorithm: 'rsa-sha1' }),
    responding('digested with SHA-1', 'weak_algorithm', { digestAlgorithm: 'sha1' }),
    changing('signed with a shared secret', 'weak_algorithm', (xml) =>
      xml.replace(/Algorithm="[^"]*rsa-sha256"/, 'Algorithm="http://www.w3.org/2000/09/xmldsig#hmac-sha1"'),
    ),
    responding('signed with another key', 'signature', { pair: stranger }),
    changing(
      'signed with another key that it brings along',
      'signature',
      (xml) =>
        xml.replace(
          /<X509Data>[^]*<\/X509Data>/,
          '<KeyValue><RSAKeyValue><Modulus>AQAB</Modulus><Exponent>AQAB</Exponent></RSAKeyValue></KeyValue>',
        ),
      { pair: stranger },
    ),
    changing(
      'signed with another key, under no name',
      'signature',
      (xml) => xml.replace(/<KeyInfo>[^]*<\/KeyInfo>/, ''),
      { pair: stranger },
    ),
    changing(
      'signed with another key, under the name of the right one',
      'signature',
      (xml) =>
        xml.replace(
          /<X509Certificate>[^<]*/,
          `<X509Certificate>${provider.pair.certificatePem.replaceAll(/-----[^-]+-----|\s/g, '')}`,
        ),
      { pair: stranger },
    ),
    responding('for another audience', 'audience', { audience: 'urn:example:other' }),
    responding('for no audience', 'audience', {
      edit: (xml) => xml.replace(/<saml:AudienceRestriction>[^]*<\/saml:AudienceRestriction>/, ''),
    }),
    responding('under a condition that nobody knows', 'audience', {
      edit: (xml) => xml.replace('</saml:Conditions>', '<saml:Weather/></saml:Conditions>'),
    }),
    responding('for another recipient', 'recipient', { recipient: 'https://evil.example/acs' }),
    responding('for no recipient', 'recipient', { edit: (xml) => xml.replace(/ Recipient="[^"]*"/, '') }),
    responding('sent to another destination', 'destination', { destination: 'https://evil.example/acs' }),
    responding('from another issuer', 'issuer', { issuer: 'urn:example:evil' }),
    responding('with an assertion of another issuer', 'issuer', {
      edit: (xml) => xml.replace(/(<saml:Issuer[^>]*>)[^<]*/, '$1urn:example:evil'),
    }),
    responding('in answer to another request', 'not_requested', { inResponseTo: '_another' }),
    responding('with an assertion in answer to another request', 'not_requested', {
      edit: (xml) => xml.replace(/InResponseTo="[^"]*"/, 'InResponseTo="_another"'),
    }),
    {
      name: 'in answer to nothing',
      reason: 'not_requested',
      make: async ({ email, acsUrl, audience }) => base64(await provider.respond({ email, acsUrl, audience })),
    },
    responding('expired', 'expired', { lifetimeInSeconds: -120 }),
    responding('confirmed without an end', 'expired', {
      edit: (xml) => xml.replace(/(<saml:SubjectConfirmationData[^>]*) NotOnOrAfter="[^"]*"/, '$1'),
    }),
    responding('confirmed for a day', 'expired', { lifetimeInSeconds: 86_400 }),
    responding('not yet valid', 'not_yet_valid', {
      edit: (xml) => xml.replace(/NotBefore="[^"]*"/, `NotBefore="${later(300)}"`),
    }),
    responding('signed in tomorrow', 'not_yet_valid', {
      edit: (xml) => xml.replace(/AuthnInstant="[^"]*"/, `AuthnInstant="${later(86_400)}"`),
    }),
    responding("with the provider's session over", 'expired', {
      edit: (xml) =>
        xml.replace('<saml:AuthnStatement ', `<saml:AuthnStatement SessionNotOnOrAfter="${later(-3_600)}" `),
    }),
    responding('confirmed by something else than bearing', 'structure', {
      edit: (xml) => xml.replace('cm:bearer', 'cm:sender-vouches'),
    }),
    responding('with a status that is no success', 'status', {
      samlStatusCode: 'urn:oasis:names:tc:SAML:2.0:status:Responder',
    }),
    changing('with a failure and without an assertion', 'status', (xml) => xml.replace(assertionIn(xml), ''), {
      samlStatusCode: 'urn:oasis:names:tc:SAML:2.0:status:Responder',
    }),
    changing('with success and without an assertion', 'structure', (xml) => xml.replace(assertionIn(xml), '')),
    responding('without a statement that anybody signed in', 'structure', {
      edit: (xml) => xml.replace(/<saml:AuthnStatement[^]*<\/saml:AuthnStatement>/, ''),
    }),
    ...attacksOnSignedResponses(provider, stranger),
    responding('naming nobody', 'no_subject', { edit: (xml) => xml.replace(/(<saml:NameID[^>]*>)[^<]*/, '$1') }),
  ];
}
