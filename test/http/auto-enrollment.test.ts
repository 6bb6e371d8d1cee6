import { createPrivateKey, randomUUID, X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEmployee } from '../../commands/employees/create-employee.ts';
import type { EmployeeSource } from '../../src/domain/employees/events.ts';
import { system } from '../../src/kernel/actor.ts';
import { orThrow } from '../../src/kernel/failure.ts';
import { startApp, type TestApp, type TestTenant } from '../dsl/app.ts';

const path = '/api/v1/enroll/auto';
const POLICIES = '/api/v1/ext/policies';
const SECRET = 'a-secret-of-the-fleet';

describe('enrollment of agents by themselves', () => {
  let app: TestApp;
  let acme: TestTenant;
  beforeAll(async () => {
    app = await startApp();
    acme = await app.newTenant();
  });
  afterAll(() => app.close());

  async function person(source: Exclude<EmployeeSource, 'enrollment'>, over: { externalId?: string; isActive?: boolean } = {}, tenant = acme, on = app) {
    const userId = randomUUID();
    const email = `${userId.slice(0, 8)}@corp.example`;
    const input = { userId, email, displayName: 'Ada', department: null, jobTitle: null, externalId: null, source, isActive: true, ...over };
    const { services } = on;
    const { position } = orThrow(await services.executor.execute(createEmployee, input, { tenantId: tenant.tenantId, actor: system('test') }));
    await services.freshness.waitFor(['employees'], position!, 10_000);
    return { userId, upn: email };
  }
  const agentOf = (upn: string, over: Record<string, unknown> = {}) => ({
    username: 'ada',
    upn,
    tenantId: acme.tenantId,
    deviceInfo: { hostname: 'ADA-LAPTOP', osType: 'Windows', osVersion: '11', agentVersion: '3.1.0' },
    ...over,
  });
  const enroll = (body: unknown, headers: Record<string, string> = { 'x-tenant-id': acme.tenantId }) => app.anonymous.post(path, body, { headers });
  const refusal = (errorCode: string) => ({ success: false, error: expect.any(String) as string, errorCode });

  it('gives the agent of a synced user a certificate in a bundle, and a key', async () => {
    const { userId, upn } = await person('directory');
    const { status, body } = await enroll(agentOf(upn.toUpperCase()));
    expect(status).toBe(200);
    expect(Object.keys(body).sort()).toEqual(['accessKey', 'certificateData', 'deviceId', 'success', 'userId']);
    expect(body).toMatchObject({ success: true, userId });
    expect(Buffer.from(body.accessKey, 'base64url')).toHaveLength(32);
    const bundle = Buffer.from(body.certificateData, 'base64').toString();
    const [certificate, privateKey, authority] = bundle.match(/-----BEGIN [^-]+-----[^-]+-----END [^-]+-----\n/g) as [string, string, string];
    expect(new X509Certificate(certificate).checkPrivateKey(createPrivateKey(privateKey))).toBe(true);
    expect(new X509Certificate(certificate).verify(new X509Certificate(authority).publicKey)).toBe(true);
    const client = app.device(certificate, privateKey);
    expect((await client.get(POLICIES)).status).toBe(200);
    client.close();
    const shown = (await acme.admin.get(`/api/v1/admin/devices/${body.deviceId}`)).body;
    expect(shown).toMatchObject({ userId, userEmail: upn, hostname: 'ADA-LAPTOP', osType: 'windows', agentVersion: '3.1.0', browserType: null, status: 'active' });
    expect((await acme.admin.get(`/api/v1/admin/users/${userId}`)).body.status).toBe('active');
  });

  it('lets an agent sign on with its key, at the heartbeat and nowhere else, until the key is replaced or the device is cut off', async () => {
    const { upn } = await person('directory');
    const first = (await enroll(agentOf(upn))).body;
    const beat = (accessKey: string) => app.anonymous.post('/api/v1/ext/heartbeat', { extensionVersion: '3.1.0' }, { headers: { 'x-access-key': accessKey } });
    const heard = await beat(first.accessKey);
    expect([heard.status, heard.body.commands]).toEqual([200, []]);
    expect((await acme.admin.get(`/api/v1/admin/devices/${first.deviceId}`)).body).toMatchObject({ lastSeenAt: expect.any(String), extensionVersion: '3.1.0' });
    for (const door of [POLICIES, '/api/v1/ext/policy-keys']) expect((await app.anonymous.get(door, { headers: { 'x-access-key': first.accessKey } })).status).toBe(401);
    for (const wrong of ['', 'x', 'A'.repeat(43), `${first.accessKey}x`, first.accessKey.toUpperCase()]) expect((await beat(wrong)).status).toBe(401);

    const again = (await enroll(agentOf(upn))).body;
    expect(again.deviceId).toBe(first.deviceId);
    expect((await beat(first.accessKey)).status).toBe(401);
    await acme.admin.put(`/api/v1/admin/devices/${again.deviceId}/wipe`);
    expect((await beat(again.accessKey)).body.commands).toMatchObject([{ type: 'wipe' }]);
    expect((await acme.admin.get(`/api/v1/admin/devices/${again.deviceId}`)).body).toMatchObject({ wipeRequestedAt: expect.any(String), wipeDeliveredAt: expect.any(String), wipedAt: null });
    await acme.admin.put(`/api/v1/admin/devices/${again.deviceId}/revoke`);
    expect((await beat(again.accessKey)).status).toBe(401);
  });

  it('finds a user by security identifier where the name is unknown', async () => {
    const { userId } = await person('scim', { externalId: 'S-1-5-21-7' });
    const { status, body } = await enroll(agentOf('unknown@corp.example', { sid: 'S-1-5-21-7' }));
    expect({ status, userId: body.userId }).toEqual({ status: 200, userId });
  });

  it('knows a computer again by its user and name, and no two users by the same name', async () => {
    const [ada, bob] = [await person('directory'), await person('directory')];
    const first = (await enroll(agentOf(ada.upn))).body.deviceId as string;
    expect((await enroll(agentOf(ada.upn))).body.deviceId).toBe(first);
    expect((await enroll(agentOf(bob.upn))).body.deviceId).not.toBe(first);
    const nameless = agentOf(ada.upn, { deviceInfo: undefined });
    expect((await enroll(nameless)).body.deviceId).not.toBe((await enroll(nameless)).body.deviceId);
  });

  it('makes up nobody: an unknown, manually added, inactive or foreign user is not found', async () => {
    const other = await app.newTenant();
    const foreign = await person('directory', {}, other);
    const people = [await person('manual'), await person('import'), await person('directory', { isActive: false }), foreign];
    const before = (await acme.admin.get('/api/v1/admin/users')).body.total as number;
    for (const upn of ['nobody@corp.example', ...people.map((known) => known.upn)]) {
      expect(await enroll(agentOf(upn))).toMatchObject({ status: 404, body: refusal('user_not_found') });
    }
    const stranger = randomUUID();
    expect(await enroll(agentOf(foreign.upn, { tenantId: stranger }), { 'x-tenant-id': stranger })).toMatchObject({ status: 404, body: refusal('user_not_found') });
    expect((await acme.admin.get('/api/v1/admin/users')).body.total).toBe(before);
  });

  it('says in its own words what is wrong with a request', async () => {
    const { upn } = await person('directory');
    expect(await enroll(agentOf(upn), {})).toMatchObject({ status: 400, body: refusal('missing_tenant') });
    const bad = [agentOf(upn, { upn: undefined }), agentOf(upn, { username: '' }), agentOf(upn, { tenantId: 'acme' }), agentOf(upn, { tenantId: randomUUID() }), agentOf(upn, { deviceInfo: { osType: 'beos' } }), []];
    for (const body of bad) expect(await enroll(body)).toMatchObject({ status: 400, body: refusal('invalid_request') });
    const broken = await app.anonymous.send('POST', path, { raw: '{', headers: { 'content-type': 'application/json', 'x-tenant-id': acme.tenantId } });
    expect(broken).toMatchObject({ status: 400, body: refusal('invalid_request') });
    const text = await app.anonymous.send('POST', path, { raw: 'x', headers: { 'content-type': 'text/plain' } });
    expect(text).toMatchObject({ status: 415, body: refusal('invalid_request') });
  });

  it('is unavailable without a certificate authority', async () => {
    const bare = await app.newTenant();
    const { upn } = await person('directory', {}, bare);
    await bare.admin.delete('/api/v1/admin/certificates/ca');
    const answer = await enroll(agentOf(upn, { tenantId: bare.tenantId }), { 'x-tenant-id': bare.tenantId });
    expect(answer).toMatchObject({ status: 503, body: refusal('service_unavailable') });
  });

  it('puts neither the key nor the name of the computer into the log', async () => {
    const { upn } = await person('directory');
    const { accessKey } = (await enroll(agentOf(upn, { deviceInfo: { hostname: 'VERY-PRIVATE-HOST' } }))).body;
    const { rows } = await app.services.database.owner.query<{ data: string }>('select data::text as data from events where tenant_id = $1', [acme.tenantId]);
    const log = rows.map(({ data }) => data).join();
    expect(log).toContain('accessKeyDigest');
    expect(log).not.toContain(accessKey);
    expect(log).not.toContain('VERY-PRIVATE-HOST');
  });
});

describe('enrollment of agents where the installation asks for a secret', () => {
  it('takes the right one and nothing else', async () => {
    const app = await startApp({ autoEnrollSecret: SECRET });
    try {
      const { tenantId } = await app.newTenant();
      const body = { username: 'ada', upn: 'ada@corp.example', tenantId };
      const codeWith = async (secret: Record<string, string>) => (await app.anonymous.post(path, body, { headers: { 'x-tenant-id': tenantId, ...secret } })).body.errorCode;
      expect(await codeWith({})).toBe('invalid_request');
      expect(await codeWith({ 'x-enrollment-secret': `${SECRET}x` })).toBe('invalid_request');
      expect(await codeWith({ 'x-enrollment-secret': SECRET })).toBe('user_not_found');
    } finally {
      await app.close();
    }
  });
});
