import { createPrivateKey, randomUUID, X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  enrollmentToken,
  enrollmentTokenStream,
  identifyToken,
  newEnrollmentToken,
} from '../../../../src/contexts/enrollment/domain/enrollment-token.ts';
import type { EnrollmentEvent } from '../../../../src/contexts/enrollment/domain/events.ts';
import { system } from '../../../../src/platform/kernel/actor.ts';
import type { TenantEvent } from '../../../../src/contexts/tenants/domain/events.ts';
import { tenant as tenantAggregate, tenantStream } from '../../../../src/contexts/tenants/domain/tenant.ts';
import { accept, defineCommand } from '../../../../src/platform/kernel/command.ts';
import { orThrow } from '../../../../src/platform/kernel/failure.ts';
import type { TenantId } from '../../../../src/platform/kernel/ids.ts';
import { startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { browser, enrolledDevice, enrollmentTokenOf, tryToEnroll } from '../../../dsl/enrolled-device.ts';
import { unavailableOnce } from '../../../dsl/unavailable-once.ts';
import { hasOpenssl, openssl, withOpenssl } from '../../../platform/pki/openssl.ts';

const DAY = 86_400_000;

describe('enrollment over HTTP', () => {
  let app: TestApp;
  let acme: TestTenant;
  beforeAll(async () => {
    app = await startApp();
    acme = await app.newTenant();
  });
  afterAll(() => app.close());

  const licenseEnd = async () => (await app.services.lookups.tenant(acme.tenantId, acme.tenantId))!.license!.expiresAt;
  const issue = (expiresInDays: unknown) => acme.admin.post('/api/v1/admin/enrollment/token', { expiresInDays });

  /** A token that was issued long ago and has expired. */
  async function expiredToken(): Promise<string> {
    const token = newEnrollmentToken();
    const identity = identifyToken(token);
    const issued: EnrollmentEvent = {
      type: 'EnrollmentTokenIssued',
      data: { ...identity, userId: null, batchId: null, expiresAt: new Date(Date.now() - 1_000).toISOString() },
    };
    const stream = () => enrollmentTokenStream(acme.tenantId, identity.tokenId);
    const issueIt = defineCommand({
      name: 'IssueExpiredForTest',
      aggregate: enrollmentToken,
      stream,
      decide: () => accept([issued]),
    });
    orThrow(
      await app.services.executor.execute(issueIt, undefined, { tenantId: acme.tenantId, actor: system('test') }),
    );
    return token;
  }

  /** As if time had passed: the license was valid and has expired. */
  async function expireLicense(tenantId: TenantId): Promise<void> {
    const { license } = (await app.services.lookups.tenant(tenantId, tenantId))!;
    const expired: TenantEvent = {
      type: 'LicenseInstalled',
      data: { ...license!, expiresAt: new Date(Date.now() - 1_000).toISOString() },
    };
    const install = defineCommand({
      name: 'ExpireForTest',
      aggregate: tenantAggregate,
      stream: () => tenantStream(tenantId),
      decide: () => accept([expired]),
    });
    const { position } = orThrow(
      await app.services.executor.execute(install, undefined, { tenantId, actor: system('test') }),
    );
    await app.services.freshness.waitFor(['live-state'], position!, 10_000);
  }

  describe('a token', () => {
    it('is valid for 30 days by default', async () => {
      const before = Date.now();
      for (const asked of [
        await acme.admin.post('/api/v1/admin/enrollment/token'),
        await issue(undefined),
        await issue(null),
      ]) {
        expect(asked.status).toBe(201);
        expect(Date.parse(asked.body.expiresAt)).toBeGreaterThanOrEqual(before + 30 * DAY);
        expect(Date.parse(asked.body.expiresAt)).toBeLessThanOrEqual(Date.now() + 30 * DAY);
      }
    });

    it.each(['bound', 'not bound'])('that is %s counts again if a 503 hid that it was used', async (kind) => {
      const tenant = await app.newTenant();
      const { admin } = tenant;
      const userId =
        kind === 'bound'
          ? (await admin.post('/api/v1/admin/users', { email: 'lost@acme.example', displayName: 'Lost' })).body.id
          : undefined;
      const token = await enrollmentTokenOf(tenant, userId);
      const about = browser();
      const enroll = (over: object = {}) => tryToEnroll(app, tenant.tenantId, token, { ...about, ...over });
      const restore = unavailableOnce(app.services.executor, 'EnrollDevice', 'after');
      expect((await enroll().finally(restore)).status).toBe(503);
      const statuses = async () =>
        ((await admin.get('/api/v1/admin/enrollment/tokens')).body.tokens as { status: string }[]).map(
          ({ status }) => status,
        );
      await expect.poll(statuses).toEqual(['valid']);
      // Without an employee, only the fingerprint says that it is the same browser.
      if (kind === 'not bound')
        expect((await enroll({ deviceFingerprint: 'another' })).body.code).toBe('invalid_enrollment_token');
      const again = await enroll();
      expect(again.status).toBe(200);
      expect(await statuses()).toEqual(['used']);
      const devices = (await admin.get('/api/v1/admin/devices')).body.devices as { id: string }[];
      expect(devices.map(({ id }) => id)).toEqual([again.body.deviceId]);
      expect((await admin.get('/api/v1/admin/users')).body.total).toBe(1);
      expect((await enroll()).status).toBe(401);
    });

    it.each(['token', 'batch', 'all', 'device'])('that was returned after a 503 is ended with the %s', async (by) => {
      const tenant = await app.newTenant();
      const { admin } = tenant;
      const { configs, batchId } = (
        await admin.post('/api/v1/admin/enrollment/bulk-config', { count: 1, format: 'json' })
      ).body;
      const about = browser();
      const enroll = () => tryToEnroll(app, tenant.tenantId, configs[0].token, about);
      const restore = unavailableOnce(app.services.executor, 'EnrollDevice', 'after');
      expect((await enroll().finally(restore)).status).toBe(503);
      const tokens = async () =>
        (await admin.get('/api/v1/admin/enrollment/tokens')).body.tokens as {
          id: string;
          status: string;
          deviceId: string;
        }[];
      await expect
        .poll(async () => (await tokens())[0])
        .toMatchObject({ status: 'valid', deviceId: expect.any(String) });
      const [token] = await tokens();
      const revokes = '/api/v1/admin/enrollment/tokens/revoke';
      if (by === 'token') expect((await admin.delete(`/api/v1/admin/enrollment/tokens/${token!.id}`)).status).toBe(204);
      if (by === 'batch') expect((await admin.post(revokes, { batchId })).body).toMatchObject({ revoked: 1 });
      if (by === 'all') expect((await admin.post(revokes, { all: true })).body).toMatchObject({ revoked: 1 });
      if (by === 'device') expect((await admin.delete(`/api/v1/admin/devices/${token!.deviceId}`)).status).toBe(204);
      expect((await enroll()).status).toBe(401);
      await app.settled();
      expect((await tokens()).map(({ status }) => status)).toEqual([by === 'device' ? 'used' : 'revoked']);
    });

    it('is valid no longer than the license, whatever is requested', async () => {
      const asked = await issue(100_000);
      expect([asked.status, asked.body.expiresAt]).toEqual([201, await licenseEnd()]);
      const ending = await app.newTenant({ license: { expiresAt: new Date(Date.now() + 5 * DAY).toISOString() } });
      const { license } = (await app.services.lookups.tenant(ending.tenantId, ending.tenantId))!;
      expect((await ending.admin.post('/api/v1/admin/enrollment/token')).body.expiresAt).toBe(license!.expiresAt);
    });

    it('is bound to an active employee of the tenant, or to nobody', async () => {
      const { userId, client } = await enrolledDevice(app, acme);
      client.close();
      const bound = (user: unknown) => acme.admin.post('/api/v1/admin/enrollment/token', { userId: user });
      expect((await bound(userId)).status).toBe(201);
      const other = await app.newTenant();
      const foreign = await enrolledDevice(app, other);
      foreign.client.close();
      await acme.admin.put(`/api/v1/admin/users/${userId}`, { status: 'inactive' });
      for (const user of [userId, foreign.userId, randomUUID(), 'nobody'])
        expect(await bound(user)).toMatchObject({
          status: 400,
          body: { error: expect.stringContaining('userId') as string },
        });
    });

    it('that is bound to an employee enrolls nobody once they are inactive, not even after their return', async () => {
      const { userId, client } = await enrolledDevice(app, acme);
      client.close();
      const token = await enrollmentTokenOf(acme, userId);
      const become = (status: string) => acme.admin.put(`/api/v1/admin/users/${userId}`, { status });
      await become('inactive');
      expect(await tryToEnroll(app, acme.tenantId, token)).toMatchObject({
        status: 401,
        body: { error: 'invalid or expired enrollment token' },
      });
      const receipt = async () => (await acme.admin.get(`/api/v1/admin/users/${userId}/offboarding`)).body;
      await expect
        .poll(
          async () =>
            (await receipt()).steps?.find(({ name }: { name: string }) => name === 'enrollment_tokens')?.state,
          { timeout: 20_000 },
        )
        .toBe('completed');
      await become('active');
      expect((await tryToEnroll(app, acme.tenantId, token)).status).toBe(401);
      const next = await enrollmentTokenOf(acme, userId);
      expect(await tryToEnroll(app, acme.tenantId, next)).toMatchObject({ status: 200, body: { userId } });
    });

    it('is valid for a shorter period on request', async () => {
      const before = Date.now();
      const { body } = await issue(2);
      expect(Date.parse(body.expiresAt)).toBeGreaterThanOrEqual(before + 2 * DAY);
      expect(Date.parse(body.expiresAt)).toBeLessThanOrEqual(Date.now() + 2 * DAY);
    });

    it.each([0, -1, 1.5, '3', true])('is rejected for expiresInDays %j', async (days) => {
      expect((await issue(days)).status).toBe(400);
    });

    it('is nowhere in the event log', async () => {
      const { token } = (await issue(1)).body;
      const found = async (text: string) => {
        const { rows } = await app.services.database.owner.query(
          `select type from events where position(convert_to($1, 'utf8') in convert_to(data::text, 'utf8')) > 0`,
          [text],
        );
        return rows as unknown[];
      };
      expect(await found(identifyToken(token).tokenDigest)).toEqual([{ type: 'EnrollmentTokenIssued' }]);
      expect(await found(token)).toEqual([]);
    });

    it('is not issued once the license has expired, and enrolls nobody then', async () => {
      const tenant = await app.newTenant();
      const token = await enrollmentTokenOf(tenant);
      await expireLicense(tenant.tenantId);
      const refused = await tenant.admin.post('/api/v1/admin/enrollment/token');
      expect(refused).toMatchObject({ status: 403, body: { error: 'license expired' } });
      expect((await tryToEnroll(app, tenant.tenantId, token)).status).toBe(401);
    });
  });

  it('names the enrollment address', async () => {
    const { status, body } = await acme.admin.get('/api/v1/admin/enrollment/config');
    expect(status).toBe(200);
    expect(body).toEqual({ apiEndpoint: 'https://devices.castellan.example', tenantId: acme.tenantId });
  });

  describe('a browser', () => {
    it('gets a P-256 certificate of its tenant, with its key, for a year', async () => {
      const device = await enrolledDevice(app, acme);
      const certificate = new X509Certificate(device.certificatePem);
      expect(certificate.publicKey.asymmetricKeyDetails?.namedCurve).toBe('prime256v1');
      expect(certificate.checkPrivateKey(createPrivateKey(device.privateKeyPem))).toBe(true);
      expect(certificate.checkIssued(new X509Certificate(device.caCertificatePem))).toBe(true);
      expect(certificate.subject).toBe(`O=${acme.tenantId}\nCN=${device.deviceId}`);
      expect(Date.parse(device.expiresAt)).toBe(Date.parse(certificate.validTo));
      const days = (Date.parse(device.expiresAt) - Date.now()) / DAY;
      expect(days).toBeGreaterThan(364.9);
      expect(days).toBeLessThanOrEqual(365);
      device.client.close();
    });

    it.skipIf(!hasOpenssl)(
      withOpenssl('gets a certificate that openssl takes for a TLS client of that CA'),
      async () => {
        const { client, certificatePem, caCertificatePem } = await enrolledDevice(app, acme);
        const files = { 'ca.pem': caCertificatePem, 'client.pem': certificatePem };
        const verdict = openssl(
          ['verify', '-x509_strict', '-purpose', 'sslclient', '-CAfile', 'ca.pem', 'client.pem'],
          files,
        );
        expect(verdict.output).toContain('client.pem: OK');
        client.close();
      },
    );

    it('may spell family names in any case', async () => {
      const device = await enrolledDevice(app, acme, { browserType: 'Firefox', osType: 'MacOS' });
      const { body } = await acme.admin.get(`/api/v1/admin/devices/${device.deviceId}`);
      expect(body).toMatchObject({ browserType: 'firefox', osType: 'macos' });
      device.client.close();
    });

    it('enrolls with the required fields only', async () => {
      const over = { browserVersion: undefined, osType: undefined, osVersion: undefined };
      expect((await tryToEnroll(app, acme.tenantId, await enrollmentTokenOf(acme), over)).status).toBe(200);
    });

    it('keeps its token after an invalid request', async () => {
      const enrollmentToken = await enrollmentTokenOf(acme);
      const missing = ['deviceFingerprint', 'browserType', 'extensionVersion'].map((field) => ({ [field]: undefined }));
      const wrong = [
        { browserType: 'netscape' },
        { osType: 'beos' },
        { deviceFingerprint: '' },
        { extensionVersion: 7 },
      ];
      for (const over of [...missing, ...wrong]) {
        expect((await tryToEnroll(app, acme.tenantId, enrollmentToken, over)).status, JSON.stringify(over)).toBe(400);
      }
      const bodyOf = browser({ enrollmentToken });
      expect((await app.anonymous.post('/api/v1/enroll/certificate', bodyOf)).body.error).toContain('X-Tenant-ID');
      for (const headers of [{ 'x-tenant-id': '' }, { 'x-tenant-id': 'acme' }]) {
        expect((await app.anonymous.post('/api/v1/enroll/certificate', bodyOf, { headers })).status).toBe(400);
      }
      expect((await tryToEnroll(app, acme.tenantId, enrollmentToken)).status).toBe(200);
    });

    it('is refused without saying why the token is invalid', async () => {
      const other = await app.newTenant();
      const spent = await enrollmentTokenOf(acme);
      await tryToEnroll(app, acme.tenantId, spent);
      const answers = await Promise.all([
        tryToEnroll(app, acme.tenantId, spent),
        tryToEnroll(app, acme.tenantId, 'no-such-token'),
        tryToEnroll(app, acme.tenantId, await expiredToken()),
        tryToEnroll(app, acme.tenantId, await enrollmentTokenOf(other)),
        tryToEnroll(app, '99999999-9999-4999-8999-999999999999', await enrollmentTokenOf(acme)),
      ]);
      const error = 'invalid or expired enrollment token';
      for (const { status, body } of answers)
        expect({ status, body: { ...body, requestId: '' } }).toEqual({
          status: 401,
          body: { error, code: 'invalid_enrollment_token', fields: [], requestId: '' },
        });
      expect((await acme.admin.post('/api/v1/enroll/certificate', browser())).status).toBe(400);
    });

    it('is the only one of 200 that use one token at once', async () => {
      const token = await enrollmentTokenOf(acme);
      const before = (await acme.admin.get('/api/v1/admin/devices')).body.total as number;
      const answers = await Promise.all(Array.from({ length: 200 }, () => tryToEnroll(app, acme.tenantId, token)));
      const statuses = answers.map(({ status }) => status);
      expect(statuses.filter((status) => status === 200)).toHaveLength(1);
      expect(statuses.filter((status) => status === 401)).toHaveLength(199);
      await app.settled();
      expect((await acme.admin.get('/api/v1/admin/devices')).body.total).toBe(before + 1);
    });

    it('is one device, though its requests race with tokens that are bound to one person, and losers keep their tokens', async () => {
      const { userId, client: before } = await enrolledDevice(app, acme);
      before.close();
      const tokens = await Promise.all(Array.from({ length: 5 }, () => enrollmentTokenOf(acme, userId)));
      const answers = await Promise.all(
        tokens.map((token) => tryToEnroll(app, acme.tenantId, token, { deviceFingerprint: 'the-same' })),
      );
      const succeeded = answers.filter(({ status }) => status === 200);
      const refused = answers.flatMap(({ status }, n) => (status === 200 ? [] : [n]));
      for (const n of refused) expect(answers[n]).toMatchObject({ status: 409, body: { code: 'enrollment_running' } });
      expect(new Set(succeeded.map(({ body }) => body.deviceId)).size).toBe(1);
      expect(new Set(succeeded.map(({ body }) => body.userId)).size).toBe(1);
      const clients = succeeded.map(({ body }) => app.device(body.clientCertificate, body.clientPrivateKey));
      const statuses = await Promise.all(
        clients.map((client) => client.get('/api/v1/ext/policies').then(({ status }) => status)),
      );
      expect(statuses.filter((status) => status === 200)).toHaveLength(1);
      expect(statuses.filter((status) => status === 401)).toHaveLength(succeeded.length - 1);
      for (const client of clients) client.close();
      // How many lose depends on timing; each who loses may come again with the same token.
      for (const n of refused) {
        const again = await tryToEnroll(app, acme.tenantId, tokens[n]!, { deviceFingerprint: 'the-same' });
        expect([again.status, again.body.deviceId]).toEqual([200, succeeded[0]!.body.deviceId]);
      }
    });
  });
});
