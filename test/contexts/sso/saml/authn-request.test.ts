import { generateKeyPairSync, verify, X509Certificate } from 'node:crypto';
import { inflateRawSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { authnRequestAddress } from '../../../../src/contexts/sso/saml/authn-request.ts';
import { serviceProviderMetadata, type ServiceProvider } from '../../../../src/contexts/sso/saml/service-provider.ts';
import { childrenOf, onlyChild, parseXml } from '../../../../src/contexts/sso/saml/xml.ts';
import {
  newSigningPair,
  startSamlIdentityProvider,
  type SamlIdentityProvider,
} from '../../../dsl/saml-identity-provider.ts';

const MD = 'urn:oasis:names:tc:SAML:2.0:metadata';
const pair = newSigningPair('castellan');
const unsigned: ServiceProvider = {
  entityId: 'https://castellan.example/saml?tenant_id=1&x=2',
  acsUrl: 'https://castellan.example/acs?a=1&b="2"',
  sloUrl: 'https://castellan.example/logout?tenant_id=1&x=2',
  nameIdFormat: 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress',
  signingKey: undefined,
  certificate: undefined,
};
const signing: ServiceProvider = { ...unsigned, signingKey: pair.privateKeyPem, certificate: pair.certificatePem };
const request = { id: '_a.b-c', relayState: 'state/+=&', now: Date.parse('2026-03-04T05:06:07Z') };

describe('an AuthnRequest', () => {
  let provider: SamlIdentityProvider;
  beforeAll(async () => {
    provider = await startSamlIdentityProvider();
  });
  afterAll(() => provider.close());

  it('is understood by a provider, whose response refers to it', async () => {
    provider.signsIn('ann@t1.example');
    const { action, samlResponse, relayState } = await provider.visit(
      authnRequestAddress(unsigned, provider.ssoUrl, request),
    );
    expect([action, relayState]).toEqual([unsigned.acsUrl, request.relayState]);
    const response = Buffer.from(samlResponse, 'base64').toString();
    expect(response).toContain('InResponseTo="_a.b-c"');
    expect(response).toContain('<saml:Audience>https://castellan.example/saml?tenant_id=1&amp;x=2</saml:Audience>');
  });

  it('is signed if there is a key, so that a provider which requires that accepts this one and no other', async () => {
    const demanding = await startSamlIdentityProvider();
    demanding.requireSigned(pair.certificatePem);
    demanding.signsIn('ann@t1.example');
    expect((await demanding.visit(authnRequestAddress(signing, demanding.ssoUrl, request))).samlResponse).not.toBe('');
    const foreign = { ...signing, signingKey: newSigningPair('somebody else').privateKeyPem };
    await expect(demanding.visit(authnRequestAddress(foreign, demanding.ssoUrl, request))).rejects.toThrow('refused');
    await expect(demanding.visit(authnRequestAddress(unsigned, demanding.ssoUrl, request))).rejects.toThrow('refused');
    await demanding.close();
  });

  it('requests a fresh authentication only on demand', () => {
    const forced = (over: object) => {
      const xml = inflateRawSync(
        Buffer.from(
          new URL(authnRequestAddress(unsigned, 'https://idp.example/sso', { ...request, ...over })).searchParams.get(
            'SAMLRequest',
          )!,
          'base64',
        ),
      ).toString();
      return parseXml(xml).documentElement.getAttribute('ForceAuthn');
    };
    expect(
      [forced({}), forced({ reauthenticates: false }), forced({ reauthenticates: true })].map((value) => value || null),
    ).toEqual([null, null, 'true']);
  });

  it('may be signed with an elliptic curve', () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const address = authnRequestAddress(
      { ...unsigned, signingKey: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string },
      'https://idp.example/sso',
      request,
    );
    const [, octets, signature] = /\?(.*)&Signature=(.*)$/.exec(address)!;
    expect(
      verify(
        'sha256',
        Buffer.from(octets!),
        { key: publicKey, dsaEncoding: 'ieee-p1363' },
        Buffer.from(decodeURIComponent(signature!), 'base64'),
      ),
    ).toBe(true);
  });

  it("keeps the parameters of the provider's address", () => {
    for (const service of [unsigned, signing]) {
      const address = new URL(authnRequestAddress(service, 'https://idp.example/sso?realm=a%20b', request));
      expect(address.searchParams.get('realm')).toBe('a b');
      const xml = inflateRawSync(Buffer.from(address.searchParams.get('SAMLRequest')!, 'base64')).toString();
      expect(parseXml(xml).documentElement.getAttribute('Destination')).toBe('https://idp.example/sso?realm=a%20b');
      expect(xml).toContain('IssueInstant="2026-03-04T05:06:07.000Z"');
    }
  });
});

describe('the metadata of the service', () => {
  it.each([
    ['without a key', unsigned, 'false', []],
    ['with a key', signing, 'true', [new X509Certificate(pair.certificatePem).raw.toString('base64')]],
  ] as const)(
    'state the address of responses and what is signed, %s',
    (_name, service, requestsSigned, certificates) => {
      const root = parseXml(serviceProviderMetadata(service).replace(/^<\?xml[^>]*>\s*/, '')).documentElement;
      expect(root.getAttribute('entityID')).toBe(service.entityId);
      const descriptor = onlyChild(root, MD, 'SPSSODescriptor')!;
      expect([descriptor.getAttribute('AuthnRequestsSigned'), descriptor.getAttribute('WantAssertionsSigned')]).toEqual(
        [requestsSigned, 'true'],
      );
      expect(onlyChild(descriptor, MD, 'AssertionConsumerService')!.getAttribute('Location')).toBe(service.acsUrl);
      expect(childrenOf(descriptor, MD, 'KeyDescriptor').map(({ textContent }) => textContent)).toEqual(certificates);
      expect(serviceProviderMetadata(service)).not.toContain('PRIVATE');
    },
  );
});
