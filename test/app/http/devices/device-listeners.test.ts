import { createHash, createPublicKey, randomUUID, verify, X509Certificate } from 'node:crypto';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recentLogLines } from '../../../../src/platform/observability/recent-log-lines.ts';
import { issueServerCertificate } from '../../../../src/platform/pki/server-certificate.ts';
import { startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { enrolledDevice, type EnrolledDevice } from '../../../dsl/enrolled-device.ts';
import { licenseKey } from '../../../dsl/licenses.ts';
import { unzipped } from '../../../dsl/unzipped.ts';

const POLICIES = '/api/v1/ext/policies';
const HEARTBEAT = '/api/v1/ext/heartbeat';
const SECRETS = { recoveryKey: 'the-recovery-key-of-this-service', metricsToken: 'the-metrics-token-of-this-service' };

let app: TestApp;
let acme: TestTenant;
const open: EnrolledDevice[] = [];
const newDevice = async (tenant = acme) => {
  const device = await enrolledDevice(app, tenant);
  open.push(device);
  return device;
};
beforeAll(async () => {
  app = await startApp({
    ...SECRETS,
    portal: { url: 'https://portal.example/hub', apiKey: 'the-api-key-of-the-portal' },
  });
  acme = await app.newTenant();
});
afterAll(async () => {
  for (const { client } of open) client.close();
  await app.close();
});

describe('a revoked device', () => {
  it('is refused at its next request on its open connection, and no other device is', async () => {
    const [device, other] = [await newDevice(), await newDevice()];
    expect((await device.client.get(POLICIES)).status).toBe(200);
    await acme.admin.put(`/api/v1/admin/devices/${device.deviceId}/revoke`);
    const refused = await Promise.all([
      device.client.get(POLICIES),
      device.client.post(HEARTBEAT, { extensionVersion: '1' }),
      device.client.post('/api/v1/ext/events', { events: [{}] }),
      device.client.post('/api/v1/ext/unblock', { key: 'x', domain: 'a.example' }),
    ]);
    expect(refused.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
    expect((await other.client.get(POLICIES)).status).toBe(200);
  });
});

describe('the configuration bundle of extensions', () => {
  it('is signed, so that a cached copy can be verified', async () => {
    const { client } = await newDevice();
    const { keys } = (await client.get('/api/v1/ext/policy-keys')).body;
    const { text, headers } = await client.get(POLICIES);
    const key = keys.find(({ kid }: { kid: string }) => kid === headers.get('x-policy-key'));
    const publicKey = createPublicKey({ key, format: 'jwk' });
    const signature = Buffer.from(headers.get('x-policy-signature')!, 'base64url');
    expect(verify(null, Buffer.from(text), publicKey, signature)).toBe(true);
    expect(verify(null, Buffer.from(text.replace('learning', 'block')), publicKey, signature)).toBe(false);
  });
});

describe('the installed extensions of a browser', () => {
  const path = (id: string) => `/api/v1/admin/devices/${id}/extensions`;
  const at = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();
  const inventory = (minutes: number, ...extensions: object[]) => ({
    eventId: randomUUID(),
    kind: 'extension_inventory',
    occurredAt: at(minutes),
    data: { extensions },
  });
  const change = (minutes: number, extensionId: string, data: object) => ({
    eventId: randomUUID(),
    kind: 'extension_event',
    occurredAt: at(minutes),
    data: { extensionId, ...data },
  });
  const one = (extensionId: string, over: object = {}) => ({
    extensionId,
    name: extensionId.toUpperCase(),
    version: '1.0',
    publisher: 'Acme',
    permissions: ['tabs'],
    isEnabled: true,
    ...over,
  });

  it('are its latest inventory plus later changes', async () => {
    const device = await newDevice();
    const shown = async () => (await app.settled(), (await acme.admin.get(path(device.deviceId))).body);
    const send = (...events: object[]) => device.client.post('/api/v1/ext/events', { events });
    expect(await shown()).toEqual({ extensions: [], total: 0 });
    const [first, second] = [inventory(-60, one('a'), one('b'), one('c')), change(-50, 'b', { change: 'disabled' })];
    await send(
      first,
      second,
      change(-40, 'c', { change: 'removed' }),
      change(-30, 'd', { change: 'installed', name: 'New', version: '2' }),
    );
    expect(await shown()).toEqual({
      total: 3,
      extensions: [
        { ...one('a'), isWhitelisted: false, installedAt: first.occurredAt, lastSeenAt: first.occurredAt },
        {
          ...one('b'),
          isEnabled: false,
          isWhitelisted: false,
          installedAt: first.occurredAt,
          lastSeenAt: second.occurredAt,
        },
        expect.objectContaining({ extensionId: 'd', name: 'New', version: '2', permissions: [], isEnabled: true }),
      ],
    });
    await send(inventory(-65, one('z')));
    await send(change(-70, 'a', { change: 'removed' }));
    await send(inventory(-20, one('a', { version: '1.1' })), inventory(-90, one('old')));
    expect((await shown()).extensions).toMatchObject([
      { extensionId: 'a', version: '1.1', installedAt: first.occurredAt },
    ]);
  });

  it('are not found for unknown devices or those of another tenant', async () => {
    const device = await newDevice(await app.newTenant());
    expect((await acme.admin.get(path(device.deviceId))).status).toBe(404);
    expect((await acme.admin.get(path(randomUUID()))).status).toBe(404);
  });
});

describe('the support bundle', () => {
  it('describes the state of the application, and contains no secret', async () => {
    const stranger = await app.newTenant();
    recentLogLines.write(JSON.stringify({ level: 40, tenantId: acme.tenantId, msg: 'mine' }));
    recentLogLines.write(JSON.stringify({ level: 40, tenantId: stranger.tenantId, msg: 'theirs' }));
    const answer = await fetch(`${app.url}/api/v1/admin/support-bundle`, {
      headers: { authorization: `Bearer ${acme.token}` },
    });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/zip']);
    expect(answer.headers.get('content-disposition')).toMatch(
      /^attachment; filename="support-bundle-\d{4}-\d\d-\d\d\.zip"$/,
    );
    const files = unzipped(Buffer.from(await answer.arrayBuffer()));
    expect([...files.keys()]).toEqual([
      'about.json',
      'config.json',
      'health.json',
      'projections.json',
      'jobs.json',
      'log.ndjson',
    ]);
    const read = (name: string) => JSON.parse(files.get(name)!.toString());
    expect(read('about.json')).toMatchObject({ version: expect.any(String), tenantId: acme.tenantId });
    expect(read('config.json')).toMatchObject({
      database: 'embedded',
      recoveryKeyConfigured: true,
      portalConfigured: true,
    });
    expect(read('health.json').dependencies).toHaveProperty('postgres');
    expect(read('projections.json').projections.find(({ name }: { name: string }) => name === 'alerts')).toMatchObject({
      kind: 'model',
      state: 'live',
      isUpToDate: expect.any(Boolean),
    });
    // Totals of all tenants occur nowhere.
    expect(files.get('projections.json')!.toString()).not.toMatch(/position|head/);
    for (const state of Object.values(read('jobs.json'))) expect(state).toBeTypeOf('boolean');
    expect(read('about.json')).not.toHaveProperty('memory');
    expect(files.get('log.ndjson')!.toString()).toContain('"mine"');
    const everything = [...files.values()].map(String).join('\n');
    const { masterKey, auditKey, dataDir } = app.config;
    const secrets = [
      ...Object.values(SECRETS),
      'the-api-key-of-the-portal',
      'portal.example',
      dataDir,
      acme.token,
      acme.email,
      '"theirs"',
      masterKey.toString('hex'),
      masterKey.toString('base64'),
      auditKey.toString('hex'),
      auditKey.toString('base64'),
    ];
    for (const secret of secrets) expect(everything).not.toContain(secret);
  });

  it('is limited to super admins', async () => {
    for (const role of ['admin', 'analyst', 'viewer'] as const) {
      const { client } = await app.adminWithRole(acme, role);
      expect([role, (await client.get('/api/v1/admin/support-bundle')).status]).toEqual([role, 403]);
    }
  });

  it('keeps the latest thousand log lines', async () => {
    const { RecentLogLines } = await import('../../../../src/platform/observability/recent-log-lines.ts');
    const lines = new RecentLogLines();
    for (let n = 0; n < 1_500; n += 1) lines.write(`${n}\n`);
    lines.write('x'.repeat(5_000));
    expect([lines.all.length, lines.all[0], lines.all.at(-1)]).toEqual([999, '501', '1499']);
  });
});

describe('the certificate of the TLS listener', () => {
  const TLS = '/api/v1/admin/tls';
  const make = (days = 40) =>
    issueServerCertificate({ hostNames: ['castellan.example'], ipAddresses: ['127.0.0.1'], now: Date.now(), days });
  const bodyOf = ({ certificatePem, privateKeyPem }: { certificatePem: string; privateKeyPem: string }) => ({
    certificate: certificatePem,
    privateKey: privateKeyPem,
  });
  const shownOnTheWire = () =>
    new Promise<string>((resolve, reject) => {
      const { hostname, port } = new URL(app.tlsUrl);
      const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false }, () => {
        const { raw } = socket.getPeerCertificate();
        socket.destroy();
        resolve(createHash('sha256').update(raw).digest('hex'));
      });
      socket.on('error', reject);
    });
  const fingerprintOf = (pem: string) => createHash('sha256').update(new X509Certificate(pem).raw).digest('hex');

  it('is generated until another is uploaded, which is served at once and whose key is never shown', async () => {
    const { body: before } = await acme.admin.get(`${TLS}/status`);
    expect(before).toMatchObject({ configured: true, source: 'generated', daysRemaining: expect.any(Number) });
    const device = await newDevice();
    const first = make();
    const answer = await acme.admin.post(`${TLS}/certificate`, bodyOf(first));
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        configured: true,
        subject: 'CN=castellan.example',
        issuer: 'CN=castellan.example',
        expiresAt: new Date(first.expiresAt).toISOString(),
        daysRemaining: 39,
        source: 'uploaded',
      },
    ]);
    expect(await shownOnTheWire()).toBe(fingerprintOf(first.certificatePem));
    expect((await acme.admin.get(`${TLS}/status`)).body).toEqual(answer.body);
    expect((await device.client.get(POLICIES)).status).toBe(200);
    const second = make();
    await acme.admin.post(`${TLS}/certificate`, bodyOf(second));
    expect(await shownOnTheWire()).toBe(fingerprintOf(second.certificatePem));
    const { rows } = await app.services.database.owner.query(
      `select data from events where type = 'ServerCertificateInstalled'`,
    );
    expect(rows).toHaveLength(2);
    expect(JSON.stringify(rows)).not.toContain('PRIVATE KEY');
  });

  it.each([
    ['no key', () => ({ certificate: make().certificatePem })],
    ['no PEM', () => ({ certificate: 'x', privateKey: 'y' })],
    ['another key', () => ({ certificate: make().certificatePem, privateKey: make().privateKeyPem })],
  ])('is rejected with %s', async (_what, body) => {
    const before = await shownOnTheWire();
    expect((await acme.admin.post(`${TLS}/certificate`, body())).status).toBe(400);
    expect(await shownOnTheWire()).toBe(before);
  });

  it('is rejected when it is too large for a certificate', async () => {
    const tooLarge = { ...bodyOf(make()), certificate: 'x'.repeat(70_000) };
    expect((await acme.admin.post(`${TLS}/certificate`, tooLarge)).status).toBe(413);
    const alsoWrong = await acme.admin.post(`${TLS}/certificate`, { ...tooLarge, privateKey: 'y' });
    expect([alsoWrong.status, alsoWrong.body.fields.map(({ field }: { field: string }) => field)]).toEqual([
      400,
      ['certificate', 'privateKey'],
    ]);
  });

  it('is replaced with a fresh proof only, and raises an alert', async () => {
    const tenant = await app.newTenant();
    const before = await shownOnTheWire();
    const refused = await app.as(tenant.token).post(`${TLS}/certificate`, bodyOf(make()));
    expect([refused.status, refused.body.code, await shownOnTheWire()]).toEqual([
      403,
      'reauthentication_required',
      before,
    ]);
    const next = make();
    expect((await tenant.admin.post(`${TLS}/certificate`, bodyOf(next))).status).toBe(200);
    await app.settled();
    const { body } = await tenant.admin.get('/api/v1/admin/alerts?alert_type=policy_violation');
    expect(body.alerts).toMatchObject([
      { severity: 'high', title: 'Devices are shown another certificate of the service' },
    ]);
  });

  it('is managed by the tenant that set the installation up, once there is one', async () => {
    const setup = {
      email: 'first@castellan.example',
      password: 'Correct-Horse-7!',
      displayName: 'First',
      licenseKey: licenseKey({ clientName: 'First' }),
      externalBaseUrl: 'https://castellan.example',
    };
    const { status, body } = await app.anonymous.post('/api/v1/setup/complete', setup);
    expect(status).toBe(201);
    expect((await acme.admin.post(`${TLS}/certificate`, bodyOf(make()))).status).toBe(403);
    const founder = await app.reauthenticated(body.accessToken);
    expect((await founder.post(`${TLS}/certificate`, bodyOf(make()))).status).toBe(200);
  });
});
