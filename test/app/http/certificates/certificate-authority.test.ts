import { spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAuthority, type Authority } from '../../../../src/platform/pki/authority.ts';
import { issueServerCertificate } from '../../../../src/platform/pki/server-certificate.ts';
import { sharedApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { enrolledDevice, enrollmentTokenOf, tryToEnroll } from '../../../dsl/enrolled-device.ts';
import { rsaAuthority } from '../../../platform/pki/fixtures.ts';

const path = '/api/v1/admin/certificates/ca';
const POLICIES = '/api/v1/ext/policies';
const YEAR = 365 * 86_400_000;

const authority = (now = Date.now()): Authority =>
  createAuthority({ commonName: 'Own CA', organization: 'Acme', years: 5, now });
const bodyOf = ({ certificatePem, privateKeyPem }: { certificatePem: string; privateKeyPem: string }) => ({
  certificate: certificatePem,
  privateKey: privateKeyPem,
});

describe('the certificate authority over HTTP', () => {
  let app: TestApp;
  let acme: TestTenant;
  beforeAll(async () => {
    app = await sharedApp();
  });
  afterAll(() => app.close());
  const fresh = async () => (acme = await app.newTenant());
  const status = async () => (await acme.admin.get(`${path}/status`)).body as Record<string, unknown>;

  it('is created with the tenant, for ten years', async () => {
    await fresh();
    const shown = await status();
    expect(shown).toMatchObject({ configured: true, source: 'generated' });
    expect(Date.parse(String(shown['expiresAt'])) - Date.now()).toBeGreaterThan(9.9 * YEAR);
    const { client, caCertificatePem } = await enrolledDevice(app, acme);
    const certificate = new X509Certificate(caCertificatePem);
    expect(shown['serialNumber']).toBe(certificate.serialNumber);
    expect(shown['fingerprintSha256']).toBe(certificate.fingerprint256.replaceAll(':', '').toLowerCase());
    client.close();
  });

  it('signs a list of issued and revoked certificates that OpenSSL accepts', async () => {
    await fresh();
    const mine = authority();
    await acme.admin.post(path, bodyOf(mine));
    const [good, bad] = [await enrolledDevice(app, acme), await enrolledDevice(app, acme)];
    for (const { client } of [good, bad]) client.close();
    await acme.admin.put(`/api/v1/admin/devices/${bad.deviceId}/revoke`);
    const answer = await fetch(`${app.url}${path}/crl`, { headers: { authorization: `Bearer ${acme.token}` } });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/pkix-crl']);
    const folder = mkdtempSync('/tmp/castellan-crl-');
    try {
      writeFileSync(`${folder}/list.der`, Buffer.from(await answer.arrayBuffer()));
      writeFileSync(`${folder}/ca.pem`, mine.certificatePem);
      const { stdout, stderr } = spawnSync(
        'openssl',
        ['crl', '-inform', 'DER', '-in', `${folder}/list.der`, '-CAfile', `${folder}/ca.pem`, '-noout', '-text'],
        { encoding: 'utf8' },
      );
      expect(stderr).toContain('verify OK');
      expect([...stdout.matchAll(/Serial Number: ([0-9A-F]+)/g)].map(([, serial]) => serial)).toEqual([
        new X509Certificate(bad.certificatePem).serialNumber,
      ]);
      expect(stdout).toContain('Privilege Withdrawn');
    } finally {
      rmSync(folder, { recursive: true });
    }
    await acme.admin.delete(path);
    expect((await acme.admin.get(`${path}/crl`)).status).toBe(404);
  });

  it('is replaced by an uploaded one, which signs from then on while devices of the old one continue to work', async () => {
    await fresh();
    const old = await enrolledDevice(app, acme);
    const mine = authority();
    const answer = await acme.admin.post(path, bodyOf(mine));
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      configured: true,
      subject: 'O=Acme, CN=Own CA',
      serialNumber: mine.serialNumber,
      notBefore: new Date(mine.notBefore).toISOString(),
      expiresAt: new Date(mine.expiresAt).toISOString(),
      fingerprintSha256: mine.fingerprintSha256,
      source: 'uploaded',
    });
    expect(await status()).toEqual(answer.body);
    const device = await enrolledDevice(app, acme);
    expect(device.caCertificatePem).toBe(mine.certificatePem);
    expect(new X509Certificate(device.certificatePem).verify(new X509Certificate(mine.certificatePem).publicKey)).toBe(
      true,
    );
    for (const { client } of [old, device]) {
      expect((await client.get(POLICIES)).status).toBe(200);
      client.close();
    }
  });

  it('may be an RSA authority: its devices have P-256 keys all the same', async () => {
    await fresh();
    const rsa = rsaAuthority({ notBefore: Date.now() - 86_400_000, notAfter: Date.now() + 2 * YEAR });
    expect((await acme.admin.post(path, bodyOf(rsa))).status).toBe(201);
    const { client, certificatePem } = await enrolledDevice(app, acme);
    expect(new X509Certificate(certificatePem).publicKey.asymmetricKeyDetails?.namedCurve).toBe('prime256v1');
    expect((await client.get(POLICIES)).status).toBe(200);
    client.close();
  });

  it('is never replaced by an invalid one, and the error says what is wrong', async () => {
    await fresh();
    const before = await status();
    const good = bodyOf(authority());
    const leaf = bodyOf(
      issueServerCertificate({ hostNames: ['castellan.example'], ipAddresses: [], now: Date.now(), days: 30 }),
    );
    const damaged = good.certificate.replace(/.{20}\n-----END/, 'A'.repeat(20) + '\n-----END');
    const cases: [unknown, string][] = [
      [{ certificate: good.certificate }, 'privateKey'],
      [{ privateKey: good.privateKey }, 'certificate'],
      [{ ...good, certificate: 'not PEM' }, 'certificate'],
      [{ ...good, privateKey: 'not PEM' }, 'privateKey'],
      [{ ...good, certificate: good.privateKey, privateKey: good.certificate }, 'certificate'],
      [{ ...good, privateKey: authority().privateKeyPem }, 'privateKey'],
      [{ ...good, certificate: damaged }, 'certificate'],
      [leaf, 'certificate'],
      [bodyOf(authority(Date.now() - 6 * YEAR)), 'certificate'],
      [bodyOf(rsaAuthority({ bits: 1024, notBefore: Date.now() - YEAR, notAfter: Date.now() + YEAR })), 'certificate'],
      [{ ...good, certificate: 7 }, 'certificate'],
    ];
    for (const [body, field] of cases) {
      const answer = await acme.admin.post(path, body);
      expect({ status: answer.status, error: answer.body.error }).toEqual({
        status: 400,
        error: expect.stringContaining(`validation failed: ${field}`) as string,
      });
    }
    const huge = `${good.certificate}${'x'.repeat(64 * 1024)}`;
    const large = await acme.admin.post(path, { ...good, certificate: huge });
    expect([large.status, large.body.fields]).toEqual([
      413,
      [{ field: 'certificate', message: 'must be at most 64 KiB' }],
    ]);
    expect(await status()).toEqual(before);
  });

  it('enrolls no device once it is removed, uses no token meanwhile, and leaves enrolled devices unchanged', async () => {
    await fresh();
    const device = await enrolledDevice(app, acme);
    const token = await enrollmentTokenOf(acme);
    expect((await acme.admin.delete(path)).status).toBe(204);
    expect(await status()).toEqual({ configured: false });
    expect((await acme.admin.delete(path)).status).toBe(404);
    expect(await tryToEnroll(app, acme.tenantId, token)).toMatchObject({
      status: 503,
      body: { error: 'certificate service not configured' },
    });
    expect((await tryToEnroll(app, acme.tenantId, 'no-such-token')).status).toBe(401);
    expect((await device.client.get(POLICIES)).status).toBe(200);
    expect((await acme.admin.post(path, bodyOf(authority()))).status).toBe(201);
    expect((await tryToEnroll(app, acme.tenantId, token)).status).toBe(200);
    device.client.close();
  });

  it('never reveals its private key, and keeps no key that it does not need', async () => {
    await fresh();
    const mine = authority();
    const answers = [await acme.admin.post(path, bodyOf(mine)), await acme.admin.get(`${path}/status`)];
    for (const { text } of answers) expect(text).not.toMatch(/PRIVATE KEY|privateKey/);
    const { owner } = app.services.database;
    const { rows: logged } = await owner.query<{ data: string }>(
      'select data::text as data from events where tenant_id = $1',
      [acme.tenantId],
    );
    const log = logged.map(({ data }) => data).join();
    expect(log).toContain(mine.fingerprintSha256);
    expect(log).not.toContain('PRIVATE KEY');
    const keys = async () => {
      const { rows } = await owner.query(`select 1 from secrets where tenant_id = $1 and field = 'caPrivateKey'`, [
        acme.tenantId,
      ]);
      return rows.length;
    };
    expect(await keys()).toBe(1);
    await acme.admin.delete(path);
    expect(await keys()).toBe(0);
  });

  it('is managed by super admins; other roles may at most read it', async () => {
    await fresh();
    const [admin, analyst] = await Promise.all([app.adminWithRole(acme, 'admin'), app.adminWithRole(acme, 'analyst')]);
    expect((await admin.client.get(`${path}/status`)).status).toBe(200);
    expect((await admin.client.post(path, bodyOf(authority()))).status).toBe(403);
    expect((await admin.client.delete(path)).status).toBe(403);
    expect((await analyst.client.get(`${path}/status`)).status).toBe(403);
  });

  it('authenticates devices of its own tenant only', async () => {
    await fresh();
    const mine = acme;
    const theirs = await app.newTenant();
    const shared = bodyOf(authority());
    expect((await mine.admin.post(path, shared)).status).toBe(201);
    expect((await theirs.admin.post(path, shared)).status).toBe(201);
    const [one, other] = [await enrolledDevice(app, mine), await enrolledDevice(app, theirs)];
    await theirs.admin.put(`/api/v1/admin/devices/${other.deviceId}/revoke`);
    expect((await one.client.get(POLICIES)).status).toBe(200);
    expect((await other.client.get(POLICIES)).status).toBe(401);
    for (const { client } of [one, other]) client.close();
  });
});
