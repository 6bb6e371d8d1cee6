import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { failing, startHttpSink, startSyslog } from '../../../dsl/log-sinks.ts';

const BASE = '/api/v1/admin/integrations/log-destinations';
const SYSLOG = { host: 'siem.acme.example', port: 6514 };
const S3 = {
  endpoint: 'https://s3.acme.example',
  region: 'eu-central-1',
  bucket: 'acme-logs',
  accessKeyId: 'AKIATEST',
};
const webhook = (config: object = {}, over: object = {}) => ({
  name: 'SIEM',
  type: 'webhook',
  config: { url: 'https://siem.acme.example/in', ...config },
  ...over,
});
const syslog = (config: object = {}, over: object = {}) => ({
  name: 'SIEM',
  type: 'syslog',
  config: { ...SYSLOG, ...config },
  ...over,
});

describe('log destinations', () => {
  let app: TestApp;
  let tenant: TestTenant;
  beforeAll(async () => {
    app = await startApp();
    tenant = await app.newTenant();
  });
  afterAll(() => app.close());

  const kinds: readonly [string, object, string, object][] = [
    ['webhook', { url: 'https://siem.acme.example' }, 'token', { url: 'https://evil.example' }],
    ['splunk_hec', { url: 'https://splunk.acme.example:8088' }, 'token', { url: 'https://evil.example' }],
    [
      'elasticsearch',
      { url: 'https://es.acme.example', index: 'castellan' },
      'apiKey',
      { url: 'https://evil.example' },
    ],
    ['s3', S3, 'secretAccessKey', { endpoint: 'https://evil.example' }],
  ];

  it.each(kinds)(
    '%s: a credential is never shown, and goes to no other address',
    async (type, config, secret, moved) => {
      const created = await tenant.admin.post(BASE, { name: type, type, config: { ...config, [secret]: 'hush-hush' } });
      expect(created.status).toBe(201);
      const { id, config: shown } = created.body;
      expect([shown[secret], shown[`${secret}Configured`], created.body.format]).toEqual([undefined, true, 'json']);
      expect(JSON.stringify([created.body, (await tenant.admin.get(BASE)).body])).not.toContain('hush-hush');

      const elsewhere = await tenant.admin.put(`${BASE}/${id}`, { config: moved });
      expect([elsewhere.status, elsewhere.body.code]).toEqual([400, 'secret_required_again']);
      const again = await tenant.admin.put(`${BASE}/${id}`, { config: { ...moved, [secret]: 'other-hush' } });
      expect([again.status, again.body.config[`${secret}Configured`]]).toEqual([200, true]);
      const removed = await tenant.admin.put(`${BASE}/${id}`, { config: { [secret]: null }, name: 'Renamed' });
      expect([removed.body.name, removed.body.config[`${secret}Configured`]]).toEqual(['Renamed', false]);
      expect((await tenant.admin.delete(`${BASE}/${id}`)).status).toBe(204);
      expect((await tenant.admin.get(`${BASE}/${id}`)).status).toBe(404);
      const { rowCount } = await app.services.database.owner.query(`select 1 from secrets where owner = $1`, [
        `log-destination/${id}`,
      ]);
      expect(rowCount).toBe(0);
    },
  );

  describe('values of headers', () => {
    const headers = { 'x-key': 'hush-hush', 'x-tenant': 'acme' };
    const concealed = { 'x-key': '[concealed]', 'x-tenant': '[concealed]' };
    const withHeaders = async () =>
      (await tenant.admin.post(BASE, webhook({ headers, url: 'https://siem.acme.example' }, { isEnabled: false })))
        .body;
    const moved = 'https://evil.example';

    it('are never shown', async () => {
      const created = await withHeaders();
      const one = `${BASE}/${created.id}`;
      const shown = [created, (await tenant.admin.get(one)).body, (await tenant.admin.get(BASE)).body.destinations[0]];
      expect(shown.map(({ config }) => config.headers)).toEqual([concealed, concealed, concealed]);
      await tenant.admin.delete(one);
    });

    it('go to no other address', async () => {
      const { id } = await withHeaders();
      const one = `${BASE}/${id}`;
      const before = (await tenant.admin.get(one)).body;
      for (const config of [
        { url: moved },
        { url: moved, headers: concealed },
        { url: moved, headers: { ...headers, 'x-key': '[concealed]' } },
        { url: 'https://siem.acme.example:8443' },
        { url: 'https://siem.acme.example/else' },
      ]) {
        const refused = await tenant.admin.put(one, { config });
        expect([refused.status, refused.body.code, refused.body.fields?.[0]?.field]).toEqual([
          400,
          'secret_required_again',
          'config.headers',
        ]);
      }
      expect((await tenant.admin.get(one)).body).toEqual(before);
      const again = await tenant.admin.put(one, { config: { url: moved, headers: { 'x-key': 'other' } } });
      expect([again.status, again.body.config]).toMatchObject([
        200,
        { url: moved, headers: { 'x-key': '[concealed]' } },
      ]);
      const emptied = await tenant.admin.put(one, { config: { url: 'https://nowhere.example', headers: {} } });
      expect([emptied.status, emptied.body.config.headers]).toEqual([200, {}]);
      await tenant.admin.delete(one);
    });

    it('stay if they are sent back concealed', async () => {
      const created = await withHeaders();
      const one = `${BASE}/${created.id}`;
      const back = await tenant.admin.put(one, { name: 'Renamed', config: created.config });
      expect([back.status, back.body.name, back.body.config]).toEqual([200, 'Renamed', created.config]);
      await tenant.admin.delete(one);
    });

    it('are refused where there is none to keep', async () => {
      const { id } = await withHeaders();
      const changed = await tenant.admin.put(`${BASE}/${id}`, { config: { headers: { 'x-new': '[concealed]' } } });
      const created = await tenant.admin.post(BASE, webhook({ headers: { 'x-new': '[concealed]' } }));
      for (const { status, body } of [changed, created])
        expect([status, body.fields?.[0]?.field]).toEqual([400, 'config.headers.x-new']);
      const beside = await tenant.admin.post(BASE, {
        ...webhook({ headers: { 'x-new': '[concealed]', 'x-other': '[concealed]' } }),
        name: 5,
      });
      expect(beside.body.fields.map(({ field }: { field: string }) => field).toSorted()).toEqual([
        'config.headers.x-new',
        'config.headers.x-other',
        'name',
      ]);
      await tenant.admin.delete(`${BASE}/${id}`);
    });
  });

  it('shows defaults, lists newest first, and pauses', async () => {
    const { body } = await tenant.admin.post(BASE, syslog());
    expect(body).toMatchObject({
      type: 'syslog',
      format: 'rfc5424',
      isEnabled: true,
      eventTypes: ['alert', 'audit'],
      config: { host: 'siem.acme.example', port: 6514, protocol: 'tls', facility: 'local0' },
      status: 'unknown',
      lastDeliveryAt: null,
      lastError: null,
      lagEvents: 0,
      lagSeconds: 0,
      backfill: null,
    });
    const { body: listed } = await tenant.admin.get(BASE);
    expect([listed.total, listed.destinations[0].id]).toEqual([1, body.id]);
    const paused = await tenant.admin.put(`${BASE}/${body.id}`, { isEnabled: false });
    expect(paused.body.status).toBe('paused');
    await tenant.admin.delete(`${BASE}/${body.id}`);
  });

  it.each([
    ['plain HTTP', webhook({ url: 'http://siem.acme.example' }), 'config.url'],
    ['credentials in the address', webhook({ url: 'https://me:pw@siem.acme.example' }), 'config.url'],
    ['a private address', webhook({ url: 'https://10.1.2.3' }), 'config.url'],
    ['a metadata address', webhook({ url: 'https://169.254.169.254/latest' }), 'config.url'],
    ['a private syslog server', syslog({ host: '192.168.1.1' }), 'config.host'],
    ['a line break in a host', syslog({ host: 'siem.acme.example\r\nX: y' }), 'config.host'],
    ['a line break in a header', webhook({ headers: { 'x-source': 'a\r\nhost: evil' } }), 'config.headers.x-source'],
    [
      'a hop-by-hop header',
      webhook({ headers: { 'Transfer-Encoding': 'chunked' } }),
      'config.headers.Transfer-Encoding',
    ],
    ['a credential among headers', webhook({ headers: { authorization: 'Bearer x' } }), 'config.headers.authorization'],
    ['a line break in a token', webhook({ token: 'a\r\nb' }), 'config.token'],
    [
      'a path as an index',
      { name: 'x', type: 'elasticsearch', config: { url: 'https://es.example', index: '../_all' } },
      'config.index',
    ],
    ['a way out of the prefix', { name: 'x', type: 's3', config: { ...S3, prefix: 'a/../b' } }, 'config.prefix'],
    ['an unknown facility', syslog({ facility: 'local9' }), 'config.facility'],
    ['no event types', syslog({}, { eventTypes: [] }), 'eventTypes'],
    ['an unknown format', syslog({}, { format: 'xml' }), 'format'],
    ['an unknown type', { name: 'x', type: 'kafka', config: {} }, 'type'],
    ['a certificate that is none', syslog({}, { caCertificate: 'PEM' }), 'caCertificate'],
  ])('refuses %s, naming the field', async (_what, body, field) => {
    const refused = await tenant.admin.post(BASE, body);
    expect([refused.status, refused.body.fields?.[0]?.field ?? refused.body.error]).toEqual([400, field]);
  });

  it('checks a change by the rules of its own type', async () => {
    const { body } = await tenant.admin.post(BASE, {
      name: 'x',
      type: 'elasticsearch',
      config: { url: 'https://es.acme.example', index: 'castellan' },
    });
    const refused = await tenant.admin.put(`${BASE}/${body.id}`, { config: { index: null } });
    expect([refused.status, refused.body.fields[0].field]).toEqual([400, 'config.index']);
    await tenant.admin.delete(`${BASE}/${body.id}`);
  });

  it('lets only a super admin allow a private network, and analysts see nothing', async () => {
    const { client } = await app.adminWithRole(tenant, 'admin');
    expect((await client.post(BASE, webhook({}, { allowPrivateNetwork: true }))).status).toBe(403);
    const { client: analyst } = await app.adminWithRole(tenant, 'analyst');
    expect((await analyst.get(BASE)).status).toBe(403);
  });

  it('takes ten destinations of a tenant, and is of one tenant only', async () => {
    const other = await app.newTenant();
    const created = await Promise.all(Array.from({ length: 10 }, () => other.admin.post(BASE, webhook())));
    expect(created.map(({ status }) => status)).toEqual(Array(10).fill(201));
    const refused = await other.admin.post(BASE, webhook());
    expect([refused.status, refused.body.code]).toEqual([409, 'limit_reached']);
    const { id } = created[0]!.body;
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['PUT', '', {}],
      ['DELETE', '', undefined],
      ['POST', '/test', {}],
      ['POST', '/backfill', { from: '2026-01-01T00:00:00Z' }],
      ['GET', '/refused', undefined],
      ['POST', '/refused/retry', { recordIds: [id] }],
      ['DELETE', `/refused/${id}`, undefined],
    ] as const) {
      const asked = await tenant.admin.send(method, `${BASE}/${id}${path}`, body ? { body } : {});
      expect([path, asked.status]).toEqual([path, 404]);
    }
  });

  it('tests a destination: 200 also on failure, in fixed words', async () => {
    const { body } = await tenant.admin.post(BASE, webhook({ url: 'https://nowhere.invalid' }));
    const tested = await tenant.admin.post(`${BASE}/${body.id}/test`, {});
    expect(tested.body).toEqual({
      success: false,
      message: 'the address cannot be reached',
      latencyMs: expect.any(Number) as number,
    });
  });
});

describe('forwarding', () => {
  let app: TestApp;
  let tenant: TestTenant;
  beforeAll(async () => {
    app = await startApp({ devMode: true });
    tenant = await app.newTenant();
  });
  afterAll(() => app.close());

  const rename = async (name: string) =>
    expect((await tenant.admin.put('/api/v1/admin/me', { displayName: name })).status).toBe(200);
  const shown = async (id: string) => (await tenant.admin.get(`${BASE}/${id}`)).body;

  it('sends what happens from now on, and tells how far it is', async () => {
    const peer = await startSyslog();
    const { body } = await tenant.admin.post(
      BASE,
      syslog({ host: '127.0.0.1', port: peer.port, protocol: 'tcp' }, { format: 'json', eventTypes: ['audit'] }),
    );
    const tested = await tenant.admin.post(`${BASE}/${body.id}/test`, {});
    expect(tested.body).toMatchObject({ success: true, message: 'the record was delivered' });
    await app.settled();
    await rename('One');
    await rename('Two');
    await vi.waitFor(async () => expect((await shown(body.id)).lastDeliveryAt).not.toBeNull(), { timeout: 20_000 });
    const records = peer.received
      .filter((line) => !line.includes('log_destination.test'))
      .map((line) => JSON.parse(line.slice(line.indexOf('{'))) as { type: string; tenantId: string; data: object });
    expect(records.slice(0, 3)).toMatchObject([
      { type: 'audit', data: { details: { metadata: { change: 'log_destination_added' } } } },
      { type: 'audit', tenantId: tenant.tenantId, data: { details: { displayName: 'One' } } },
      { type: 'audit', data: { details: { displayName: 'Two' } } },
    ]);
    expect(await shown(body.id)).toMatchObject({ status: 'healthy', lastError: null, lagEvents: 0 });
    await tenant.admin.delete(`${BASE}/${body.id}`);
    await peer.close();
  });

  it('waits for a destination that fails, and loses nothing', async () => {
    const peer = await startHttpSink();
    peer.answer(failing(503));
    const { body } = await tenant.admin.post(
      BASE,
      webhook({ url: peer.url, token: 'a-token' }, { eventTypes: ['audit'] }),
    );
    await app.settled();
    await rename('Three');
    await vi.waitFor(async () => expect((await shown(body.id)).status).toBe('failing'), { timeout: 20_000 });
    expect(await shown(body.id)).toMatchObject({ lastError: 'the destination responds with an error' });
    // The alert about the destination, and the new name.
    await vi.waitFor(async () => expect(await shown(body.id)).toMatchObject({ lagEvents: 2 }), { timeout: 20_000 });
    peer.received.length = 0;
    peer.answer((_request, response) => void response.writeHead(204).end());
    await vi.waitFor(async () => expect((await shown(body.id)).status).toBe('healthy'), { timeout: 20_000 });
    expect(peer.received[0]!.headers.authorization).toBe('Bearer a-token');
    expect(peer.received.map((request) => request.body).join('')).toContain('Three');
    await tenant.admin.delete(`${BASE}/${body.id}`);
    await peer.close();
  });
});
