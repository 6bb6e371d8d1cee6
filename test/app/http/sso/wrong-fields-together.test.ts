import { beforeAll, describe, expect, it } from 'vitest';
import { sharedApp, type Client } from '../../../dsl/app.ts';
import { newOrganization, type TestOrganization } from '../../../dsl/organization.ts';
import { samlMetadata } from '../../../dsl/saml-metadata.ts';
import { newSigningPair } from '../../../dsl/saml-identity-provider.ts';

const CONFIGS = '/api/v1/admin/sso-configs';
const ORG_CONFIGS = '/api/v1/org/sso-configs';
const own = newSigningPair('castellan');
const other = newSigningPair('somebody else');

const oidc = { issuerUrl: 'https://idp.example', clientId: 'castellan' };
const saml = {
  protocol: 'saml',
  idpEntityId: 'https://adfs.example',
  idpSsoUrl: 'https://adfs.example/sso',
  idpCertificate: own.certificatePem,
};
const foreign = { spSigningKey: own.privateKeyPem, spCertificate: other.certificatePem };

let admin: Client;
let owner: Client;
let write: TestOrganization['write'];
beforeAll(async () => {
  const app = await sharedApp();
  ({ admin } = await app.newTenant());
  const north = await newOrganization(app);
  ({ owner, write } = north);
});

const named = ({ status, body }: { status: number; body: { fields?: { field: string }[] } }) => [
  status,
  ...(body.fields ?? []).map(({ field }) => field).sort(),
];

const OIDC_CASES: [string, object, string[]][] = [
  ['trust without domains', { name: '', emailsVerified: true }, ['emailsVerified', 'name']],
  ['domains that are none, and trust', { name: '', emailsVerified: true, emailDomains: 5 }, ['emailDomains', 'name']],
  [
    'an issuer in a private network',
    { issuerUrl: 'https://10.0.0.1', emailsVerified: true },
    ['emailsVerified', 'issuerUrl'],
  ],
  [
    'an issuer for all directories',
    { issuerUrl: 'https://login.microsoftonline.com/common/v2.0', emailsVerified: true },
    ['emailsVerified', 'issuerUrl'],
  ],
  [
    'an issuer without TLS',
    { issuerUrl: 'http://10.0.0.1', caCertificate: 'x'.repeat(40_000), emailsVerified: true },
    ['caCertificate', 'emailsVerified', 'issuerUrl'],
  ],
];

describe('a refused creation names', () => {
  it.each(OIDC_CASES)('of OpenID Connect: %s', async (_what, over, fields) => {
    expect(named(await admin.post(CONFIGS, { ...oidc, ...over }))).toEqual([400, ...fields]);
    expect(named(await write('POST', ORG_CONFIGS, { ...oidc, ...over }))).toEqual([400, ...fields]);
  });

  it.each<[string, object, string[]]>([
    [
      'addresses without TLS',
      { idpSsoUrl: 'http://x.example', idpSloUrl: 'http://y.example', nameIdFormat: 'x' },
      ['idpSloUrl', 'idpSsoUrl', 'nameIdFormat'],
    ],
    ['signing without a key', { name: '', signRequests: true }, ['name', 'signRequests']],
    ['a certificate of another key', { name: '', ...foreign }, ['name', 'spCertificate']],
    [
      'all three',
      { idpCertificate: 'x'.repeat(40_000), idpSsoUrl: 'http://x.example', ...foreign },
      ['idpCertificate', 'idpSsoUrl', 'spCertificate'],
    ],
  ])('of SAML: %s', async (_what, over, fields) => {
    expect(named(await admin.post(CONFIGS, { ...saml, ...over }))).toEqual([400, ...fields]);
    expect(named(await admin.post(`${CONFIGS}/test`, { ...saml, ...over }))).toEqual([400, ...fields]);
  });
});

describe('a refused change names', () => {
  it('of OpenID Connect what the stored fields contradict', async () => {
    const asAdmin: TestOrganization['write'] = (method, path, body) =>
      method === 'POST' ? admin.post(path, body!) : admin.put(path, body!);
    for (const [send, path] of [
      [asAdmin, CONFIGS],
      [write, ORG_CONFIGS],
    ] as const) {
      const { id } = (await send('POST', path, { ...oidc, clientSecret: 'hush', emailDomains: [] })).body;
      const refused = await send('PUT', `${path}/${id}`, { issuerUrl: 'https://10.0.0.1', emailsVerified: true });
      expect(named(refused)).toEqual([400, 'clientSecret', 'emailsVerified', 'issuerUrl']);
      expect(refused.body.code).toBe('secret_required_again');
      const plain = await send('PUT', `${path}/${id}`, { issuerUrl: 'http://x.example', name: '' });
      expect(named(plain)).toEqual([400, 'issuerUrl', 'name']);
    }
  });

  it('of SAML the pair, the key that signs, and the protocol', async () => {
    const { id } = (await admin.post(CONFIGS, { ...saml, spSigningKey: own.privateKeyPem, signRequests: true })).body;
    const refused = await admin.put(`${CONFIGS}/${id}`, { protocol: 'oidc', spCertificate: other.certificatePem });
    expect(named(refused)).toEqual([400, 'protocol', 'spCertificate']);
    expect(named(await admin.put(`${CONFIGS}/${id}`, { protocol: 'oidc', spSigningKey: null }))).toEqual([
      400,
      'protocol',
      'signRequests',
    ]);
  });
});

describe('a refused import names', () => {
  it('metadata that cannot be read beside other fields', async () => {
    const path = `${CONFIGS}/import`;
    const bad = { metadata: '<a/>' };
    expect(named(await admin.post(path, { ...bad, emailDomains: 'x' }))).toEqual([400, 'emailDomains', 'metadata']);
    expect(named(await admin.post(path, { ...bad, signRequests: true }))).toEqual([400, 'metadata', 'signRequests']);
  });

  it('the metadata for an address in it without TLS', async () => {
    const metadata = samlMetadata({ ssoUrl: 'http://adfs.example/sso' });
    const refused = await admin.post(`${CONFIGS}/import`, { metadata });
    expect(named(refused)).toEqual([400, 'metadata']);
    expect(refused.body.fields[0].message).toContain('SingleSignOnService');
  });
});

describe('a test refuses what a creation refuses:', () => {
  it.each<[object, string[]]>([
    [{ scopes: 'email' }, ['scopes']],
    [{ clientSecret: '' }, ['clientSecret']],
    [{ clientAuthentication: 'zz', name: 5 }, ['clientAuthentication', 'name']],
    [{ emailsVerified: true }, ['emailsVerified']],
  ])('%j', async (over, fields) => {
    expect(named(await admin.post(`${CONFIGS}/test`, { ...oidc, ...over }))).toEqual([400, ...fields]);
    expect(named(await owner.post(`${ORG_CONFIGS}/test`, { ...oidc, ...over }))).toEqual([400, ...fields]);
  });

  it.each<[object, string[]]>([
    [{ spSigningKey: 'zz' }, ['spSigningKey']],
    [foreign, ['spCertificate']],
    [{ idpSloUrl: 'zz', nameIdFormat: 'x' }, ['idpSloUrl', 'nameIdFormat']],
    [{ signRequests: true }, ['signRequests']],
  ])('of SAML: %#', async (over, fields) => {
    expect(named(await admin.post(`${CONFIGS}/test`, { ...saml, ...over }))).toEqual([400, ...fields]);
  });
});

describe('what is sent to providers is one line:', () => {
  it.each<[object, object, string]>([
    [oidc, { scopes: 'openid\nemail' }, 'scopes'],
    [oidc, { scopes: 'openid "email"' }, 'scopes'],
    [oidc, { clientId: 'a\nb' }, 'clientId'],
    [saml, { idpEntityId: 'urn:a\nb' }, 'idpEntityId'],
    [saml, { emailAttribute: 'a\tb' }, 'emailAttribute'],
  ])('%# is refused', async (valid, over, field) => {
    expect(named(await admin.post(CONFIGS, { ...valid, ...over }))).toEqual([400, field]);
  });
});
