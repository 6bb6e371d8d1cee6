import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { directorySyncing } from '../../../../src/contexts/directory-sources/sync-jobs.ts';
import { secretLocation } from '../../../../src/platform/resources/secrets.ts';
import { sharedApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { GOOGLE, googleKeyFile, GRAPH, OKTA_TOKEN, startGraph } from '../../../dsl/directory-peers.ts';

const BASE = '/api/v1/admin/directory-sources';
const LDAP = {
  host: 'ldap.acme.example',
  baseDn: 'dc=acme,dc=example',
  bindDn: 'cn=reader,dc=acme,dc=example',
  bindPassword: 'ldap-hush',
};
const ldap = (config: object = {}, over: object = {}) => ({
  name: 'Company',
  type: 'ldap',
  config: { ...LDAP, ...config },
  ...over,
});

describe('directory sources', () => {
  let app: TestApp;
  let tenant: TestTenant;
  beforeAll(async () => {
    app = await sharedApp();
    tenant = await app.newTenant();
  });
  afterAll(() => app.close());

  const kinds: readonly [string, object, string, object][] = [
    ['ldap', LDAP, 'bindPassword', { host: 'other.acme.example' }],
    ['active_directory', LDAP, 'bindPassword', { port: 3269 }],
    ['entra_id', GRAPH, 'clientSecret', { loginUrl: 'https://login.microsoftonline.us' }],
    [
      'google_workspace',
      { ...GOOGLE, serviceAccountKey: googleKeyFile('https://oauth2.googleapis.example') },
      'serviceAccountKey',
      { apiUrl: 'https://elsewhere.example' },
    ],
    [
      'okta',
      { orgUrl: 'https://acme.okta.example/', apiToken: OKTA_TOKEN },
      'apiToken',
      { orgUrl: 'https://evil.example' },
    ],
  ];

  it.each(kinds)(
    '%s: a secret is never shown, and goes to no other address',
    async (type, config, secret, elsewhere) => {
      const created = await tenant.admin.post(BASE, { name: type, type, config });
      expect(created.status).toBe(201);
      const { id, config: shown } = created.body;
      expect([shown[secret], shown[`${secret}Configured`]]).toEqual([undefined, true]);
      const given = (config as Record<string, string>)[secret]!;
      expect(JSON.stringify([created.body, (await tenant.admin.get(BASE)).body])).not.toContain(given);

      const moved = await tenant.admin.put(`${BASE}/${id}`, { config: elsewhere });
      expect([moved.status, moved.body.code]).toEqual([400, 'secret_required_again']);
      expect((await tenant.admin.get(`${BASE}/${id}`)).body).toEqual(created.body);
      const again = await tenant.admin.put(`${BASE}/${id}`, { config: { ...elsewhere, [secret]: given } });
      expect([again.status, again.body.config[`${secret}Configured`]]).toEqual([200, true]);
      const removed = await tenant.admin.put(`${BASE}/${id}`, { config: { [secret]: null }, name: 'Renamed' });
      expect([removed.body.name, removed.body.config[`${secret}Configured`]]).toEqual(['Renamed', false]);
      const tested = await tenant.admin.post(`${BASE}/${id}/test`, {});
      expect([tested.status, tested.body]).toEqual([200, { success: false, message: 'no credential is stored' }]);
      expect((await tenant.admin.delete(`${BASE}/${id}`)).status).toBe(204);
      expect((await tenant.admin.get(`${BASE}/${id}`)).status).toBe(404);
      expect((await tenant.admin.put(`${BASE}/${id}`, { name: 'x' })).status).toBe(404);
    },
  );

  it('destroys the secret that a change or a removal gives up', async () => {
    const { body } = await tenant.admin.post(BASE, ldap());
    const stored = async () => {
      const found = await app.services.database.owner.query(
        `select 1 from secrets where tenant_id = $1 and owner = $2`,
        [tenant.tenantId, secretLocation('directory-source', body.id as string, 'credential').owner],
      );
      return found.rowCount;
    };
    expect(await stored()).toBe(1);
    await tenant.admin.put(`${BASE}/${body.id}`, { config: { bindPassword: 'another' } });
    expect(await stored()).toBe(1);
    await tenant.admin.delete(`${BASE}/${body.id}`);
    expect(await stored()).toBe(0);
  });

  it.each([
    ['clear text', ldap({ useTls: false }), 'config.useTls'],
    ['plain HTTP', { name: 'x', type: 'okta', config: { orgUrl: 'http://acme.okta.example' } }, 'config.orgUrl'],
    ['a private address', ldap({ host: '10.1.2.3' }), 'config.host'],
    ['a metadata address', { name: 'x', type: 'okta', config: { orgUrl: 'https://169.254.169.254' } }, 'config.orgUrl'],
    ['no filter', ldap({ userFilter: 'uid=*' }), 'config.userFilter'],
    ['half a filter', ldap({ userFilter: '(&(objectClass=person)(uid=*)' }), 'config.userFilter'],
    ['a filter without a comparison', ldap({ groupFilter: '(objectClass)' }), 'config.groupFilter'],
    ['two filters', ldap({ userFilter: '(uid=a)(uid=b)' }), 'config.userFilter'],
    ['a private IPv6 address', ldap({ host: '[fd00::1]' }), 'config.host'],
    ['an IPv6 address with a zone', ldap({ host: 'fe80::1%eth0' }), 'config.host'],
    ['a port out of range', ldap({ port: 70_000 }), 'config.port'],
    ['a share out of range', ldap({}, { maxDeactivationShare: 0 }), 'maxDeactivationShare'],
    ['an interval out of range', ldap({}, { syncIntervalMinutes: 1 }), 'syncIntervalMinutes'],
    [
      'no key file',
      { name: 'x', type: 'google_workspace', config: { ...GOOGLE, serviceAccountKey: '{}' } },
      'config.serviceAccountKey',
    ],
    ['an unknown type', { name: 'x', type: 'nis', config: {} }, 'type'],
  ])('refuses %s, naming the field', async (_what, body, field) => {
    const refused = await tenant.admin.post(BASE, body);
    expect([refused.status, refused.body.fields?.[0]?.field ?? refused.body.error]).toEqual([400, field]);
  });

  it.each([
    ['2606:4700::1111', '2606:4700::1111'],
    ['[2606:4700::ABCD]', '2606:4700::abcd'],
  ])('takes the IPv6 address %s', async (host, stored) => {
    const { status, body } = await tenant.admin.post(BASE, ldap({ host }));
    expect([status, body.config?.host]).toEqual([201, stored]);
  });

  it('does not choose groups that the directory does not offer', async () => {
    const unread = await tenant.admin.post(BASE, ldap({ host: 'nowhere.invalid' }));
    const chosen = await tenant.admin.put(`${BASE}/${unread.body.id}/synced-groups`, { groupIds: ['g-1'] });
    expect([chosen.status, chosen.body.code]).toEqual([503, 'directory_unavailable']);
    expect((await tenant.admin.put(`${BASE}/${unread.body.id}/synced-groups`, { groupIds: [] })).status).toBe(200);
  });

  it('gives up a directory that cannot be reached within half a minute of waiting', () => {
    const { attempts, backoff } = directorySyncing;
    expect(backoff).toHaveLength(attempts - 1);
    expect((backoff as readonly number[]).reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(30_000);
  });

  it('lets only a super admin allow a private network, and nobody write without a fresh proof', async () => {
    const { client } = await app.adminWithRole(tenant, 'admin');
    expect((await client.post(BASE, ldap({}, { allowPrivateNetwork: true }))).status).toBe(403);
    const { body } = await client.post(BASE, ldap());
    expect((await client.put(`${BASE}/${body.id}`, { allowPrivateNetwork: true })).status).toBe(403);
    expect((await tenant.admin.put(`${BASE}/${body.id}`, { allowPrivateNetwork: true })).status).toBe(200);
    expect((await client.put(`${BASE}/${body.id}`, { allowPrivateNetwork: true, name: 'As it was' })).status).toBe(200);
    expect((await app.as(tenant.token).post(BASE, ldap())).status).toBe(403);
  });

  it('does not synchronize a disabled source, and reports a directory that cannot be read', async () => {
    const { body } = await tenant.admin.post(BASE, ldap({ host: 'nowhere.invalid' }, { isEnabled: false }));
    const disabled = await tenant.admin.post(`${BASE}/${body.id}/sync`, {});
    expect([disabled.status, disabled.body.code]).toEqual([409, 'directory_disabled']);
    const tested = await tenant.admin.post(`${BASE}/${body.id}/test`, {});
    expect(tested.body).toEqual({ success: false, message: 'the directory cannot be reached' });
    const groups = await tenant.admin.get(`${BASE}/${body.id}/groups`);
    expect([groups.status, groups.body.code]).toEqual([503, 'directory_unavailable']);
  });

  it('is of one tenant only', async () => {
    const { body } = await tenant.admin.post(BASE, ldap());
    const other = await app.newTenant();
    for (const [method, path] of [
      ['GET', ''],
      ['PUT', ''],
      ['DELETE', ''],
      ['POST', '/test'],
      ['POST', '/sync'],
      ['GET', '/groups'],
      ['GET', '/syncs'],
      ['GET', `/syncs/${body.id}`],
    ] as const)
      expect([
        path,
        (await other.admin.send(method, `${BASE}/${body.id}${path}`, method === 'GET' ? {} : { body: {} })).status,
      ]).toEqual([path, 404]);
  });

  it('refuses a peer on this machine unless the installation is for development', async () => {
    const peer = await startGraph({ people: [], groups: [] });
    const refused = await tenant.admin.post(BASE, {
      name: 'x',
      type: 'entra_id',
      config: { ...GRAPH, loginUrl: peer.url, graphUrl: peer.url },
    });
    expect(refused.status).toBe(400);
    expect(peer.requests).toEqual([]);
    await peer.close();
  });
});
