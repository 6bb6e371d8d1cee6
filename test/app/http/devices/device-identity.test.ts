import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { device as deviceAggregate, deviceStream } from '../../../../src/contexts/devices/domain/device.ts';
import { system } from '../../../../src/platform/kernel/actor.ts';
import { accept, defineCommand } from '../../../../src/platform/kernel/command.ts';
import { orThrow } from '../../../../src/platform/kernel/failure.ts';
import { createAuthority, type Authority } from '../../../../src/platform/pki/authority.ts';
import {
  issueDeviceCertificate,
  type DeviceCertificate,
  type DeviceCertificateRequest,
} from '../../../../src/platform/pki/device-certificate.ts';
import { prepareCertificateIssuer } from '../../../../src/platform/pki/certificate-issuer.ts';
import { issueServerCertificate } from '../../../../src/platform/pki/server-certificate.ts';
import { startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { p256, pemOf, requestOf } from '../../../dsl/certificate-request.ts';
import { enrolledDevice, type EnrolledDevice } from '../../../dsl/enrolled-device.ts';
import { rsaAuthority } from '../../../platform/pki/fixtures.ts';

const POLICIES = '/api/v1/ext/policies';
const RENEW = '/api/v1/ext/certificate/renew';
const CA = '/api/v1/admin/certificates/ca';
const DAY = 86_400_000;
const HEARD = 200;
const REFUSED = 401;

const bodyOf = ({ certificatePem, privateKeyPem }: { certificatePem: string; privateKeyPem: string }) => ({
  certificate: certificatePem,
  privateKey: privateKeyPem,
});

describe('the identity of a device', () => {
  let app: TestApp;
  let acme: TestTenant;
  let authority: Authority;
  let device: EnrolledDevice;
  beforeAll(async () => {
    app = await startApp();
    acme = await app.newTenant();
    authority = createAuthority({
      commonName: 'Acme CA',
      organization: 'Acme',
      years: 10,
      now: Date.now() - 900 * DAY,
    });
    await acme.admin.post(CA, bodyOf(authority));
    device = await enrolledDevice(app, acme);
  });
  afterAll(async () => {
    device.client.close();
    await app.close();
  });

  async function answerTo(certificatePem: string, privateKeyPem: string): Promise<number> {
    const client = app.device(certificatePem, privateKeyPem);
    try {
      return (await client.get(POLICIES)).status;
    } finally {
      client.close();
    }
  }
  const issuedBy = (signer: Authority, over: Partial<DeviceCertificateRequest> = {}) => {
    const request = {
      tenantId: acme.tenantId,
      deviceId: device.deviceId,
      notBefore: Date.now(),
      notAfter: Date.now() + DAY,
      ...over,
    };
    return orThrow(issueDeviceCertificate(prepareCertificateIssuer(signer), request));
  };
  const answerToIssued = ({ certificatePem, privateKeyPem }: DeviceCertificate) =>
    answerTo(certificatePem, privateKeyPem!);
  /** Registers this certificate as issued to the device, with a long validity, so that a refusal has another cause. */
  async function registered(certificate: DeviceCertificate): Promise<DeviceCertificate> {
    const inAYear = new Date(Date.now() + 365 * DAY).toISOString();
    const { deviceId } = device;
    const data = {
      deviceId,
      serialNumber: certificate.serialNumber,
      publicKeySha256: certificate.publicKeySha256,
      expiresAt: inAYear,
      previousValidUntil: inAYear,
    };
    const register = defineCommand({
      name: 'RegisterForTest',
      aggregate: deviceAggregate,
      stream: () => deviceStream(acme.tenantId, deviceId),
      decide: () => accept([{ type: 'DeviceCertificateIssued' as const, data }]),
    });
    const { services } = app;
    const { position } = orThrow(
      await services.executor.execute(register, undefined, { tenantId: acme.tenantId, actor: system('test') }),
    );
    await services.freshness.waitFor(['live-state'], position!, 10_000);
    return certificate;
  }

  it('is proved by the certificate from its enrollment', async () => {
    expect(await answerTo(device.certificatePem, device.privateKeyPem)).toBe(HEARD);
  });

  it('is not accepted without a certificate, over TLS and over HTTP', async () => {
    expect((await app.anonymous.get(POLICIES)).status).toBe(REFUSED);
    const { certificatePem, privateKeyPem } = issueServerCertificate({
      hostNames: ['device.example'],
      ipAddresses: [],
      now: Date.now(),
      days: 1,
    });
    expect(await answerTo(certificatePem, privateKeyPem)).toBe(REFUSED);
  });

  it("is not accepted from an admin, nor an admin's from a device", async () => {
    expect((await acme.admin.get(POLICIES)).status).toBe(REFUSED);
    expect((await device.client.get('/api/v1/admin/devices')).status).toBe(REFUSED);
  });

  it('is not proved by the right authority alone: the certificate must have been issued to the device', async () => {
    expect(await answerToIssued(issuedBy(authority))).toBe(REFUSED);
    expect(await answerToIssued(issuedBy(authority, { deviceId: randomUUID() }))).toBe(REFUSED);
    expect(await answerToIssued(await registered(issuedBy(authority, { notAfter: Date.now() + 300 * DAY })))).toBe(
      HEARD,
    );
  });

  it('is not proved by another authority, whatever the certificate says', async () => {
    const impostor = createAuthority({ commonName: 'Acme CA', organization: 'Acme', years: 10, now: Date.now() });
    const forged = await registered(issuedBy(impostor));
    expect(await answerToIssued(forged)).toBe(REFUSED);
    const other = await app.newTenant();
    await other.admin.post(CA, bodyOf(impostor));
    expect(await answerToIssued(forged)).toBe(REFUSED);
    expect(await answerToIssued(issuedBy(impostor, { tenantId: other.tenantId }))).toBe(REFUSED);
  });

  it('ends when its certificate expires', async () => {
    const expired = issuedBy(authority, { notBefore: Date.now() - 10 * DAY, notAfter: Date.now() - DAY });
    const issued = await registered(expired);
    expect(await answerToIssued(issued)).toBe(REFUSED);
    const client = app.device(issued.certificatePem, issued.privateKeyPem ?? '');
    expect((await client.get(POLICIES)).body.code).toBe('certificate_expired');
    client.close();
    const longAgo = Date.now() - 900 * DAY;
    const impostor = createAuthority({ commonName: 'Acme CA', organization: 'Acme', years: 10, now: longAgo });
    const forged = issuedBy(impostor, { notBefore: Date.now() - 10 * DAY, notAfter: Date.now() - DAY });
    const stranger = app.device(forged.certificatePem, forged.privateKeyPem ?? '');
    expect((await stranger.get(POLICIES)).body.code).toBe('authentication_required');
    stranger.close();
  });

  it('is not accepted from a header without a trusted proxy', async () => {
    const headers = { 'x-client-cert': encodeURIComponent(device.certificatePem) };
    expect((await app.anonymous.get(POLICIES, { headers })).status).toBe(REFUSED);
  });

  it('moves to the next certificate in the last 30 days of the current one', async () => {
    const tenant = await app.newTenant();
    const ending = rsaAuthority({ notBefore: Date.now() - DAY, notAfter: Date.now() + 20 * DAY });
    await tenant.admin.post(CA, bodyOf(ending));
    const due = await enrolledDevice(app, tenant);
    await tenant.admin.post(
      CA,
      bodyOf(createAuthority({ commonName: 'Next CA', organization: 'Acme', years: 10, now: Date.now() })),
    );
    const { status, body } = await due.client.post(RENEW);
    expect(status).toBe(200);
    expect(Object.keys(body).sort()).toEqual([
      'caCertificate',
      'clientCertificate',
      'clientPrivateKey',
      'deviceId',
      'expiresAt',
      'userId',
    ]);
    expect(body).toMatchObject({ deviceId: due.deviceId, userId: due.userId });
    expect(Date.parse(body.expiresAt)).toBeGreaterThan(Date.now() + 364 * DAY);
    expect(await answerTo(body.clientCertificate, body.clientPrivateKey)).toBe(HEARD);
    const next = app.device(body.clientCertificate, body.clientPrivateKey);
    expect((await next.post(RENEW)).status).toBe(409);
    next.close();
    const { privateKey: own } = p256();
    const ofOwnKey = await due.client.post(RENEW, { csr: pemOf(requestOf(own)) });
    expect([ofOwnKey.status, ofOwnKey.body.clientPrivateKey]).toEqual([200, null]);
    const ownKey = own.export({ type: 'pkcs8', format: 'pem' }) as string;
    expect(await answerTo(ofOwnKey.body.clientCertificate, ownKey)).toBe(HEARD);
    expect((await due.client.post(RENEW)).status).toBe(200);
    await tenant.admin.put(`/api/v1/admin/devices/${due.deviceId}/revoke`);
    expect(await answerTo(body.clientCertificate, body.clientPrivateKey)).toBe(REFUSED);
    expect((await due.client.post(RENEW)).status).toBe(REFUSED);
    due.client.close();
  });
});

describe('the identity of a device behind a proxy that ends TLS', () => {
  it('is taken from its header, which must hold the whole certificate', async () => {
    const app = await startApp({ trustedProxies: ['127.0.0.1/32'] });
    try {
      const acme = await app.newTenant();
      const device = await enrolledDevice(app, acme);
      const answerWith = async (header: string) =>
        (await app.anonymous.get(POLICIES, { headers: { 'x-client-cert': header } })).status;
      expect(await answerWith(encodeURIComponent(device.certificatePem))).toBe(HEARD);
      for (const header of [
        '',
        '%',
        '%00',
        'none',
        encodeURIComponent(device.caCertificatePem),
        encodeURIComponent(device.certificatePem).slice(0, -60),
        'A'.repeat(9_000),
      ]) {
        expect(await answerWith(header), header.slice(0, 20)).toBe(REFUSED);
      }
      await acme.admin.put(`/api/v1/admin/devices/${device.deviceId}/revoke`);
      expect(await answerWith(encodeURIComponent(device.certificatePem))).toBe(REFUSED);
      device.client.close();
    } finally {
      await app.close();
    }
  });
});
