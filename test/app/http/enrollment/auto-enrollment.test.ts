import { createPrivateKey, randomUUID, X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { system } from '../../../../src/platform/kernel/actor.ts';
import { orThrow } from '../../../../src/platform/kernel/failure.ts';
import { unprovisionEmployee } from '../../../../commands/employees/unprovision-employee.ts';
import type { ProvisionedPerson } from '../../../../src/contexts/employees/domain/provisioning.ts';
import { agentSecretOf } from '../../../dsl/agent-secret.ts';
import { startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { provisionedPerson } from '../../../dsl/provisioned-person.ts';

const path = '/api/v1/enroll/auto';
const POLICIES = '/api/v1/ext/policies';
const CODE = '/api/v1/ext/verification/code';
const SECRET = '/api/v1/admin/enrollment/agent-secret';

describe('auto-enrollment of agents', () => {
  let app: TestApp;
  let acme: TestTenant;
  let secret: string;
  beforeAll(async () => {
    app = await startApp();
    acme = await app.newTenant();
    secret = await agentSecretOf(acme);
  });
  afterAll(() => app.close());

  it('without an agent secret there is none to remove', async () => {
    const { admin } = await app.newTenant();
    const refused = await admin.delete(SECRET);
    expect([refused.status, refused.body.code]).toEqual([404, 'not_found']);
  });

  async function person(
    kind: 'scim' | 'directory' | 'manual',
    over: Partial<ProvisionedPerson> = {},
    tenant = acme,
    on = app,
  ) {
    if (kind === 'manual') {
      const email = `${randomUUID()}@corp.example`;
      const { body } = await tenant.admin.post('/api/v1/admin/users', { email, displayName: 'Ada' });
      return { userId: body.id as string, upn: email };
    }
    const { userId, person: stated } = await provisionedPerson(on, tenant, over, { kind, id: randomUUID() });
    return { userId, upn: stated.email };
  }
  const agentOf = (upn: string, over: Record<string, unknown> = {}) => ({
    username: 'ada',
    upn,
    tenantId: acme.tenantId,
    deviceInfo: { hostname: 'ADA-LAPTOP', osType: 'Windows', osVersion: '11', agentVersion: '3.1.0' },
    ...over,
  });
  const enroll = (
    body: unknown,
    headers: Record<string, string> = { 'x-tenant-id': acme.tenantId, 'x-enrollment-secret': secret },
    over = app.anonymous,
  ) => over.post(path, body, { headers });
  const keysOf = (body: { certificateData: string }) => {
    const bundle = Buffer.from(body.certificateData, 'base64').toString();
    return bundle.match(/-----BEGIN [^-]+-----[^-]+-----END [^-]+-----\n/g) as [
      certificate: string,
      privateKey: string,
      authority: string,
    ];
  };
  const clientOf = (body: { certificateData: string }) => {
    const [certificate, privateKey] = keysOf(body);
    return app.device(certificate, privateKey);
  };
  const refusal = (errorCode: string) => ({ success: false, error: expect.any(String) as string, errorCode });

  it('gives the agent of a synced user a certificate in a bundle, and a key', async () => {
    const { userId, upn } = await person('directory');
    const { status, body } = await enroll(agentOf(upn.toUpperCase()));
    expect(status).toBe(200);
    expect(Object.keys(body).sort()).toEqual(['accessKey', 'certificateData', 'deviceId', 'success', 'userId']);
    expect(body).toMatchObject({ success: true, userId });
    expect(Buffer.from(body.accessKey, 'base64url')).toHaveLength(32);
    const [certificate, privateKey, authority] = keysOf(body);
    expect(new X509Certificate(certificate).checkPrivateKey(createPrivateKey(privateKey))).toBe(true);
    expect(new X509Certificate(certificate).verify(new X509Certificate(authority).publicKey)).toBe(true);
    const client = app.device(certificate, privateKey);
    expect((await client.get(POLICIES)).status).toBe(200);
    client.close();
    const shown = (await acme.admin.get(`/api/v1/admin/devices/${body.deviceId}`)).body;
    expect(shown).toMatchObject({
      userId,
      userEmail: upn,
      hostname: 'ADA-LAPTOP',
      osType: 'windows',
      agentVersion: '3.1.0',
      browserType: null,
      status: 'active',
    });
    expect((await acme.admin.get(`/api/v1/admin/users/${userId}`)).body.status).toBe('active');
  });

  it("accepts an agent's key for the heartbeat only, until the key is replaced or the device is revoked", async () => {
    const { upn } = await person('directory');
    const first = (await enroll(agentOf(upn))).body;
    const beat = (accessKey: string) =>
      app.anonymous.post(
        '/api/v1/ext/heartbeat',
        { extensionVersion: '3.1.0' },
        { headers: { 'x-access-key': accessKey } },
      );
    const heard = await beat(first.accessKey);
    expect([heard.status, heard.body.commands]).toEqual([200, []]);
    expect((await acme.admin.get(`/api/v1/admin/devices/${first.deviceId}`)).body).toMatchObject({
      lastSeenAt: expect.any(String),
      extensionVersion: '3.1.0',
    });
    for (const door of [POLICIES, '/api/v1/ext/policy-keys'])
      expect((await app.anonymous.get(door, { headers: { 'x-access-key': first.accessKey } })).status).toBe(401);
    for (const wrong of ['', 'x', 'A'.repeat(43), `${first.accessKey}x`, first.accessKey.toUpperCase()])
      expect((await beat(wrong)).status).toBe(401);

    const client = clientOf(first);
    const again = (await enroll(agentOf(upn), undefined, client)).body;
    client.close();
    expect(again.deviceId).toBe(first.deviceId);
    expect((await beat(first.accessKey)).status).toBe(401);
    await acme.admin.put(`/api/v1/admin/devices/${again.deviceId}/wipe`);
    expect((await beat(again.accessKey)).body.commands).toMatchObject([{ type: 'wipe' }]);
    expect((await acme.admin.get(`/api/v1/admin/devices/${again.deviceId}`)).body).toMatchObject({
      wipeRequestedAt: expect.any(String),
      wipeDeliveredAt: expect.any(String),
      wipedAt: null,
    });
    await acme.admin.put(`/api/v1/admin/devices/${again.deviceId}/revoke`);
    expect((await beat(again.accessKey)).status).toBe(401);
  });

  it('finds a user by security identifier if the name is unknown', async () => {
    const { userId } = await person('scim', { externalId: 'S-1-5-21-7' });
    const { status, body } = await enroll(agentOf('unknown@corp.example', { sid: 'S-1-5-21-7' }));
    expect({ status, userId: body.userId }).toEqual({ status: 200, userId });
  });

  it('finds a linked person by the UPN or the SID of a directory, in any case (F242)', async () => {
    const mark = randomUUID().slice(0, 8);
    const names = { upn: `${mark}@ad.example`, sid: `S-1-5-21-${Date.now()}` };
    const { userId } = await person('directory', names);
    for (const asked of [
      agentOf(names.upn.toUpperCase()),
      agentOf('unknown@corp.example', { sid: names.sid.toLowerCase() }),
      agentOf(names.upn, { sid: names.sid }),
    ])
      expect(await enroll(asked)).toMatchObject({ status: 200, body: { userId } });
    const other = await app.newTenant();
    const abroad = { 'x-tenant-id': other.tenantId, 'x-enrollment-secret': await agentSecretOf(other) };
    expect(await enroll(agentOf(names.upn, { tenantId: other.tenantId, sid: names.sid }), abroad)).toMatchObject({
      status: 404,
      body: refusal('user_not_found'),
    });
  });

  it('finds nobody by names that mean two people, by those of a SCIM client, or after the link ended', async () => {
    const [one, two] = [`${randomUUID()}@ad.example`, `${randomUUID()}@ad.example`];
    await person('directory', { upn: one, sid: `S-1-1-${one}` });
    await person('directory', { upn: two, sid: `S-1-1-${two}` });
    const claimed = `${randomUUID()}@ad.example`;
    await person('scim', { upn: claimed, sid: `S-1-1-${claimed}` });
    const { userId, source, person: left } = await provisionedPerson(app, acme);
    orThrow(
      await app.services.executor.execute(
        unprovisionEmployee,
        { userId, source, how: 'unlink' },
        { tenantId: acme.tenantId, actor: system('test') },
      ),
    );
    for (const asked of [
      agentOf(one, { sid: `S-1-1-${two}` }),
      agentOf(claimed),
      agentOf('unknown@corp.example', { sid: `S-1-1-${claimed}` }),
      agentOf(left.email),
    ])
      expect(await enroll(asked)).toMatchObject({ status: 404, body: refusal('user_not_found') });
  });

  it('recognizes a computer by its certificate only', async () => {
    const [ada, bob] = [await person('directory'), await person('directory')];
    const first = (await enroll(agentOf(ada.upn))).body;
    const client = clientOf(first);
    expect((await client.get(POLICIES)).status).toBe(200);
    // The fleet's secret and a name create a separate device; the existing computer continues to work.
    const second = (await enroll(agentOf(ada.upn))).body;
    expect([second.deviceId === first.deviceId, second.userId]).toEqual([false, ada.userId]);
    expect((await acme.admin.get(`/api/v1/admin/devices/${second.deviceId}`)).body.besideDeviceId).toBe(first.deviceId);
    expect((await client.get(POLICIES)).status).toBe(200);
    expect((await enroll(agentOf(bob.upn), undefined, client)).body.deviceId).not.toBe(first.deviceId);
    expect((await enroll(agentOf(ada.upn), undefined, client)).body.deviceId).toBe(first.deviceId);
    expect((await client.get(POLICIES)).status).toBe(401);
    const nameless = agentOf(ada.upn, { deviceInfo: undefined });
    expect((await enroll(nameless)).body.deviceId).not.toBe((await enroll(nameless)).body.deviceId);
    client.close();
  });

  it('shows no verification codes on a device until an administrator has confirmed it', async () => {
    const { userId, upn } = await person('directory');
    const { body } = await enroll(agentOf(upn));
    const client = clientOf(body);
    const ofDevice = `/api/v1/admin/devices/${body.deviceId}`;
    expect(await client.get(CODE)).toMatchObject({
      status: 403,
      body: { error: expect.stringContaining('confirm') as string },
    });
    expect((await acme.admin.get(ofDevice)).body.enrollmentConfirmed).toBe(false);
    const unconfirmed = async () =>
      (
        (await acme.admin.get(`/api/v1/admin/devices?user_id=${userId}&enrollment_confirmed=false`)).body.devices as {
          id: string;
        }[]
      ).map(({ id }) => id);
    expect(await unconfirmed()).toEqual([body.deviceId]);
    expect(await acme.admin.put(`${ofDevice}/confirm-enrollment`)).toMatchObject({
      status: 200,
      body: { enrollmentConfirmed: true },
    });
    expect(await unconfirmed()).toEqual([]);
    const { dailyCode } = (await client.get(CODE)).body as { dailyCode: string };
    expect(
      (await acme.admin.post('/api/v1/admin/verification/daily-code/verify', { userId, code: dailyCode })).body.valid,
    ).toBe(true);
    // Its own certificate keeps the confirmation; a name and the secret do not.
    const renewed = (await enroll(agentOf(upn), undefined, client)).body;
    expect([renewed.deviceId, (await acme.admin.get(ofDevice)).body.enrollmentConfirmed]).toEqual([
      body.deviceId,
      true,
    ]);
    const another = (await enroll(agentOf(upn))).body;
    expect((await acme.admin.get(`/api/v1/admin/devices/${another.deviceId}`)).body.enrollmentConfirmed).toBe(false);
    expect((await acme.admin.put(`/api/v1/admin/devices/${randomUUID()}/confirm-enrollment`)).status).toBe(404);
    client.close();
  });

  it('creates no users: unknown, manually added, inactive and foreign users are not found', async () => {
    const other = await app.newTenant();
    const foreign = await person('directory', {}, other);
    const people = [await person('manual'), await person('directory', { isActive: false }), foreign];
    const before = (await acme.admin.get('/api/v1/admin/users')).body.total as number;
    for (const upn of ['nobody@corp.example', ...people.map((known) => known.upn)]) {
      expect(await enroll(agentOf(upn))).toMatchObject({ status: 404, body: refusal('user_not_found') });
    }
    expect((await acme.admin.get('/api/v1/admin/users')).body.total).toBe(before);
  });

  it('describes invalid requests in the format of agents', async () => {
    const { upn } = await person('directory');
    expect(await enroll(agentOf(upn), {})).toMatchObject({ status: 400, body: refusal('missing_tenant') });
    const bad = [
      agentOf(upn, { upn: undefined }),
      agentOf(upn, { username: '' }),
      agentOf(upn, { tenantId: 'acme' }),
      agentOf(upn, { tenantId: randomUUID() }),
      agentOf(upn, { deviceInfo: { osType: 'beos' } }),
      [],
    ];
    for (const body of bad) expect(await enroll(body)).toMatchObject({ status: 400, body: refusal('invalid_request') });
    const broken = await app.anonymous.send('POST', path, {
      raw: '{',
      headers: { 'content-type': 'application/json', 'x-tenant-id': acme.tenantId },
    });
    expect(broken).toMatchObject({ status: 400, body: refusal('invalid_request') });
    const text = await app.anonymous.send('POST', path, { raw: 'x', headers: { 'content-type': 'text/plain' } });
    expect(text).toMatchObject({ status: 415, body: refusal('invalid_request') });
  });

  it('is unavailable without a certificate authority', async () => {
    const bare = await app.newTenant();
    const { upn } = await person('directory', {}, bare);
    const itsSecret = await agentSecretOf(bare);
    await bare.admin.delete('/api/v1/admin/certificates/ca');
    const answer = await enroll(agentOf(upn, { tenantId: bare.tenantId }), {
      'x-tenant-id': bare.tenantId,
      'x-enrollment-secret': itsSecret,
    });
    expect(answer).toMatchObject({
      status: 503,
      body: { ...refusal('service_unavailable'), error: 'certificate service not configured' },
    });
  });

  it('logs neither the key nor the name of the computer', async () => {
    const { upn } = await person('directory');
    const { accessKey } = (await enroll(agentOf(upn, { deviceInfo: { hostname: 'VERY-PRIVATE-HOST' } }))).body;
    const { rows } = await app.services.database.owner.query<{ data: string }>(
      'select data::text as data from events where tenant_id = $1',
      [acme.tenantId],
    );
    const log = rows.map(({ data }) => data).join();
    expect(log).toContain('accessKeyDigest');
    expect(log).not.toContain(accessKey);
    expect(log).not.toContain('VERY-PRIVATE-HOST');
  });

  it('reveals nothing about users and tenants without the secret', async () => {
    const [without, other] = [await app.newTenant(), await app.newTenant()];
    const [known, unprepared] = [await person('directory'), await person('directory', {}, without)];
    const gone = await agentSecretOf(other);
    await other.admin.delete(SECRET);
    const stranger = randomUUID();
    const attempts: [upn: string, tenantId: string, shown: string | undefined][] = [
      [known.upn, acme.tenantId, undefined],
      ['nobody@corp.example', acme.tenantId, undefined],
      [known.upn, acme.tenantId, ''],
      [known.upn, acme.tenantId, `${secret}x`],
      [known.upn, acme.tenantId, await agentSecretOf(other)],
      ['nobody@corp.example', acme.tenantId, 'wrong'],
      [unprepared.upn, without.tenantId, undefined],
      [unprepared.upn, without.tenantId, secret],
      ['nobody@corp.example', without.tenantId, secret],
      ['nobody@corp.example', other.tenantId, gone],
      [known.upn, stranger, secret],
    ];
    const before = (await acme.admin.get('/api/v1/admin/devices')).body.total as number;
    const answers = await Promise.all(
      attempts.map(([upn, tenantId, shown]) =>
        enroll(agentOf(upn, { tenantId }), {
          'x-tenant-id': tenantId,
          ...(shown === undefined ? {} : { 'x-enrollment-secret': shown }),
        }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(attempts.map(() => 503));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers[0]!.body).toEqual(refusal('service_unavailable'));
    await app.settled();
    expect((await acme.admin.get('/api/v1/admin/devices')).body.total).toBe(before);
  });

  describe('the secret', () => {
    const issue = async (tenant: TestTenant, body?: object) =>
      (await tenant.admin.post(SECRET, body)).body as { id: string; secret: string; previousExpiresAt: string | null };
    const works = async (tenant: TestTenant, shown: string) => {
      const { status } = await enroll(agentOf('nobody@corp.example', { tenantId: tenant.tenantId }), {
        'x-tenant-id': tenant.tenantId,
        'x-enrollment-secret': shown,
      });
      return status === 404;
    };
    const statusOf = async (tenant: TestTenant) =>
      (await tenant.admin.get(SECRET)).body as {
        configured: boolean;
        lastRotatedAt: string | null;
        versions: { id: string; expiresAt: string | null }[];
      };

    it('is shown once and not stored', async () => {
      const tenant = await app.newTenant();
      expect(await statusOf(tenant)).toEqual({ configured: false, lastRotatedAt: null, versions: [] });
      const issued = await issue(tenant);
      expect(Buffer.from(issued.secret, 'base64url')).toHaveLength(32);
      const shown = await tenant.admin.get(SECRET);
      expect(shown.body).toEqual({
        configured: true,
        lastRotatedAt: expect.any(String),
        versions: [{ id: issued.id, createdAt: expect.any(String), createdBy: tenant.adminId, expiresAt: null }],
      });
      const { rows } = await app.services.database.owner.query<{ data: string }>(
        'select data::text as data from events where tenant_id = $1',
        [tenant.tenantId],
      );
      expect(shown.text + rows.map(({ data }) => data).join()).not.toContain(issued.secret);
      expect(await works(tenant, issued.secret)).toBe(true);
    });

    it('is rotated with an overlap, in which two are valid and never three', async () => {
      const tenant = await app.newTenant();
      const [first, second] = [await issue(tenant), await issue(tenant)];
      expect([first.previousExpiresAt, Date.parse(second.previousExpiresAt!) > Date.now() + 6.9 * 86_400_000]).toEqual([
        null,
        true,
      ]);
      expect(await Promise.all([first, second].map((one) => works(tenant, one.secret)))).toEqual([true, true]);
      const third = await issue(tenant, { overlapHours: 1 });
      expect(await Promise.all([first, second, third].map((one) => works(tenant, one.secret)))).toEqual([
        false,
        true,
        true,
      ]);
      expect((await statusOf(tenant)).versions).toMatchObject([
        { id: third.id, expiresAt: null },
        { id: second.id, expiresAt: third.previousExpiresAt },
      ]);
    });

    it('ends the previous one at once if it has leaked', async () => {
      const tenant = await app.newTenant();
      const [first, second] = [await issue(tenant), await issue(tenant, { overlapHours: 0 })];
      expect(await Promise.all([first, second].map((one) => works(tenant, one.secret)))).toEqual([false, true]);
      expect((await statusOf(tenant)).versions.map(({ id }) => id)).toEqual([second.id]);
    });

    it('is removed individually or altogether, which ends auto-enrollment and no device', async () => {
      const tenant = await app.newTenant();
      const { upn } = await person('directory', {}, tenant);
      const [first, second] = [await issue(tenant), await issue(tenant)];
      const { body } = await enroll(agentOf(upn, { tenantId: tenant.tenantId }), {
        'x-tenant-id': tenant.tenantId,
        'x-enrollment-secret': first.secret,
      });
      expect((await tenant.admin.delete(`${SECRET}/${first.id}`)).status).toBe(204);
      expect(await Promise.all([first, second].map((one) => works(tenant, one.secret)))).toEqual([false, true]);
      expect((await tenant.admin.delete(`${SECRET}/${first.id}`)).status).toBe(404);
      expect((await tenant.admin.delete(SECRET)).status).toBe(204);
      expect([
        await works(tenant, second.secret),
        (await statusOf(tenant)).configured,
        (await tenant.admin.delete(SECRET)).status,
      ]).toEqual([false, false, 404]);
      const client = clientOf(body);
      expect((await client.get(POLICIES)).status).toBe(200);
      client.close();
      const audited = (await tenant.admin.get('/api/v1/admin/audit-log?page_size=100')).body.auditLogs as {
        action: string;
      }[];
      expect(
        audited
          .map(({ action }) => action)
          .filter((action) => action.startsWith('agent_secret.'))
          .sort(),
      ).toEqual(['agent_secret.issued', 'agent_secret.issued', 'agent_secret.removed', 'agent_secret.removed']);
    });

    it.each([{ overlapHours: -1 }, { overlapHours: 1.5 }, { overlapHours: 2161 }, { overlapHours: '1' }])(
      'is rejected for %j',
      async (body) => {
        expect(await acme.admin.post(SECRET, body)).toMatchObject({
          status: 400,
          body: { error: expect.stringContaining('overlapHours') as string },
        });
      },
    );
  });
});
