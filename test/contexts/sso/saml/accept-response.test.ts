import { INSTALLATION } from '../../../../src/platform/kernel/ids.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { acceptResponse, type ResponseReader } from '../../../../src/contexts/sso/saml/accept-response.ts';
import { readResponse } from '../../../../src/contexts/sso/saml/read-response.ts';
import { SamlRefused } from '../../../../src/contexts/sso/saml/refused.ts';
import { claimsOf } from '../../../../src/contexts/sso/saml/unverified-claims.ts';
import { SchemaValidation } from '../../../../src/contexts/sso/saml/schema-validation.ts';
import { emailOf } from '../../../../src/contexts/sso/saml/subject.ts';
import {
  assertionIn,
  newSigningPair,
  startSamlIdentityProvider,
  type SamlIdentityProvider,
} from '../../../dsl/saml-identity-provider.ts';
import { providerShapes, soundShapes } from '../../../dsl/saml-documents.ts';
import { attackCorpus } from './attack-corpus.ts';

const acsUrl = 'https://castellan.example/api/v1/auth/saml/callback';
const audience = 'https://castellan.example/api/v1/auth/saml/metadata';
const requestId = '_request-1';
const said = { email: 'ann@t1.example', acsUrl, audience, inResponseTo: requestId };
const schema = new SchemaValidation();
const inBase64 = (xml: string) => Buffer.from(xml).toString('base64');

/** The same checks as in the service, without its thread. */
const unthreaded: ResponseReader = {
  read: async (_tenantId, ...response) => readResponse(...response),
  claims: async (base64) => claimsOf(base64),
};

/** Milliseconds for many documents one after another, on a busy machine. */
const MANY = 180_000;

describe('a SAML response', () => {
  let provider: SamlIdentityProvider;
  beforeAll(async () => {
    provider = await startSamlIdentityProvider();
  });
  afterAll(() => provider.close());

  async function accepted(
    base64: string,
    now = Date.now(),
    certificates = [provider.pair.certificatePem],
    authenticatedSince?: number,
  ) {
    const expected = {
      idpEntityId: provider.entityId,
      spEntityId: audience,
      acsUrl,
      requestId,
      now,
      authenticatedSince,
    };
    return acceptResponse({ reader: unthreaded, schema }, INSTALLATION, base64, expected, certificates);
  }
  async function refusal(base64: string, now?: number): Promise<string> {
    const error = await accepted(base64, now).catch((thrown: unknown) => thrown);
    if (!(error instanceof SamlRefused))
      throw new Error(`accepted, or failed otherwise: ${error instanceof Error ? error.stack : JSON.stringify(error)}`);
    return error.reason;
  }

  it('is accepted with its assertion signed, and names the person', async () => {
    const { subject, assertionId, endsAt } = await accepted(inBase64(await provider.respond(said)));
    expect(subject.nameId).toBe('ann@t1.example');
    expect(emailOf(subject, null)).toBe('ann@t1.example');
    expect(emailOf(subject, 'email')).toBe('ann@t1.example');
    expect(emailOf(subject, 'mail')).toBeUndefined();
    expect(assertionId).toMatch(/^_/);
    expect(endsAt).toBeGreaterThan(Date.now());
  });

  it('is accepted with response and assertion signed, by any of the configured certificates, with line breaks in its base64', async () => {
    const xml = await provider.respond({ ...said, signResponse: true });
    const wrapped = inBase64(xml).replaceAll(/.{76}/g, '$&\r\n');
    const { subject } = await accepted(wrapped, Date.now(), [
      newSigningPair('next year').certificatePem,
      provider.pair.certificatePem,
    ]);
    expect(subject.nameId).toBe('ann@t1.example');
  });

  it.each([310, 350, 600])(
    'is rejected if the person authenticated before the re-authentication: %d s',
    async (ago) => {
      const before = new Date(Date.now() - ago * 1_000).toISOString();
      const old = inBase64(
        await provider.respond({
          ...said,
          edit: (xml) => xml.replace(/AuthnInstant="[^"]*"/, `AuthnInstant="${before}"`),
        }),
      );
      const certificates = [provider.pair.certificatePem];
      expect((await accepted(old)).subject.nameId).toBe('ann@t1.example');
      await expect(accepted(old, Date.now(), certificates, Date.now() - 300_000)).rejects.toMatchObject({
        reason: 'expired',
      });
      const fresh = inBase64(await provider.respond(said));
      expect((await accepted(fresh, Date.now(), certificates, Date.now() - 300_000)).subject.nameId).toBe(
        'ann@t1.example',
      );
    },
  );

  it.each([
    [170, 469, 'expired'],
    [1, 301, 'expired'],
    [170, 290, 'accepted'],
    [-50, 240, 'accepted'],
  ])('by a clock %d s ahead, of a person who authenticated %d s ago, is %s', async (ahead, age, outcome) => {
    const now = Date.now();
    const at = (seconds: number) => new Date(now + seconds * 1_000).toISOString();
    const xml = await provider.respond({
      ...said,
      edit: (assertion) =>
        assertion
          .replace(/IssueInstant="[^"]*"/, `IssueInstant="${at(ahead)}"`)
          .replace(/AuthnInstant="[^"]*"/, `AuthnInstant="${at(ahead - age)}"`),
    });
    const result = accepted(inBase64(xml), now, [provider.pair.certificatePem], now - 300_000);
    expect(
      await result.then(
        () => 'accepted',
        (error: SamlRefused) => error.reason,
      ),
    ).toBe(outcome);
  });

  it('is accepted three minutes early or a minute late, but not more', async () => {
    const xml = inBase64(await provider.respond({ ...said, lifetimeInSeconds: 300 }));
    const now = Date.now();
    expect((await accepted(xml, now + 345_000)).subject.nameId).toBe('ann@t1.example');
    expect(await refusal(xml, now + 420_000)).toBe('expired');
    expect((await accepted(xml, now - 170_000)).subject.nameId).toBe('ann@t1.example');
    expect(await refusal(xml, now - 240_000)).toBe('not_yet_valid');
  });

  it('may be confirmed from an instant on, which the profile forbids and some providers send', async () => {
    const from = (seconds: number) => (xml: string) =>
      xml.replace(
        '<saml:SubjectConfirmationData ',
        `<saml:SubjectConfirmationData NotBefore="${new Date(Date.now() + seconds * 1_000).toISOString()}" `,
      );
    const past = inBase64(await provider.respond({ ...said, edit: from(-5) }));
    expect((await accepted(past)).subject.nameId).toBe('ann@t1.example');
    expect(await refusal(inBase64(await provider.respond({ ...said, edit: from(300) })))).toBe('not_yet_valid');
  });

  it('names nobody by an ambiguous or invalid e-mail', async () => {
    const attribute = (values: string) => (xml: string) =>
      xml.replace(
        '</saml:AttributeStatement>',
        `<saml:Attribute Name="mail">${values}</saml:Attribute></saml:AttributeStatement>`,
      );
    const value = (text: string) => `<saml:AttributeValue>${text}</saml:AttributeValue>`;
    const mail = async (values: string) =>
      emailOf((await accepted(inBase64(await provider.respond({ ...said, edit: attribute(values) })))).subject, 'mail');
    expect(await mail(value('bob@t1.example'))).toBe('bob@t1.example');
    expect(await mail(value('bob@t1.example') + value('root@t1.example'))).toBeUndefined();
    expect(await mail(value('bob'))).toBeUndefined();
    // The Kelvin sign, whose lower case is the k of another person.
    expect(await mail(value('\u212Aate@t1.example'))).toBeUndefined();
    expect(await mail(value('bob@t1.example<b/>'))).toBeUndefined();
  });

  it.each(Object.entries({ ...providerShapes, ...soundShapes }))('is accepted from %s', async (_name, shape) => {
    const { pair, entityId } = provider;
    const xml = shape({ pair, entityId, acsUrl, audience, requestId, email: said.email });
    expect(emailOf((await accepted(inBase64(xml))).subject, null)).toBe(said.email);
  });

  it(
    'is rejected as a whole for each attack of the corpus',
    async () => {
      const outcomes: Record<string, string> = {};
      const expected: Record<string, string> = {};
      for (const { name, reason, make } of attackCorpus(provider, newSigningPair('somebody else'))) {
        expected[name] = reason;
        outcomes[name] = await refusal(await make(said)).catch((error: Error) => `${error.name}: ${error.message}`);
      }
      expect(outcomes).toEqual(expected);
    },
    MANY,
  );

  it(
    'is rejected whatever single character of it is changed',
    async () => {
      const xml = await provider.respond({ ...said, signResponse: true });
      const body = xml.indexOf(assertionIn(xml));
      for (let place = body; place < xml.length - 20; place += 97) {
        const changed = xml.slice(0, place) + (xml[place] === 'x' ? 'y' : 'x') + xml.slice(place + 1);
        expect([place, typeof (await refusal(inBase64(changed)))]).toEqual([place, 'string']);
      }
    },
    MANY,
  );
});
