import { createHash, X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { device as deviceAggregate, deviceStream } from '../../../../src/contexts/devices/domain/device.ts';
import type { DeviceEvent } from '../../../../src/contexts/devices/domain/events.ts';
import { system } from '../../../../src/platform/kernel/actor.ts';
import { accept, defineCommand } from '../../../../src/platform/kernel/command.ts';
import { orThrow } from '../../../../src/platform/kernel/failure.ts';
import { createAuthority, type Authority } from '../../../../src/platform/pki/authority.ts';
import { signedSequence } from '../../../../src/platform/pki/certificate-writing.ts';
import { deviceLayout } from '../../../../src/platform/pki/device-layout.ts';
import { prepareCertificateIssuer } from '../../../../src/platform/pki/certificate-issuer.ts';
import { keyIdentifierOfPoint } from '../../../../src/platform/pki/key-identifier.ts';
import { generateKeyPair } from '../../../../src/platform/pki/key-pair.ts';
import { pem } from '../../../../src/platform/pki/pem.ts';
import { timeElement } from '../../../../src/platform/pki/validity.ts';
import { sharedApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { enrolledDevice, type EnrolledDevice } from '../../../dsl/enrolled-device.ts';

const CA = '/api/v1/admin/certificates/ca';
const POLICIES = '/api/v1/ext/policies';
const DAY = 86_400_000;

const newAuthority = (): Authority =>
  createAuthority({ commonName: 'Acme CA', organization: 'Acme', years: 10, now: Date.now() - DAY });

interface Pair {
  readonly certificatePem: string;
  readonly privateKeyPem: string;
}

/**
 * A certificate that the holder of an authority's key can forge: for a known device and serial number, with a key of
 * their own.
 */
function forge(authority: Authority, tenantId: string, { deviceId, certificatePem }: EnrolledDevice): Pair {
  const issuer = prepareCertificateIssuer(authority);
  const [from, until] = [timeElement(Date.now() - DAY), timeElement(Date.now() + DAY)];
  const { publicPoint, privateKeyPem } = generateKeyPair();
  const toBeSigned = deviceLayout(
    issuer,
    from,
    until,
  )({
    serial: Buffer.from(new X509Certificate(certificatePem).serialNumber, 'hex'),
    notBefore: from.content,
    notAfter: until.content,
    tenantId: Buffer.from(tenantId, 'latin1'),
    deviceId: Buffer.from(deviceId, 'latin1'),
    publicPoint,
    keyIdentifier: keyIdentifierOfPoint(publicPoint),
  });
  return { certificatePem: pem('CERTIFICATE', signedSequence(issuer, toBeSigned)), privateKeyPem };
}

describe('an authority whose key has leaked', () => {
  let app: TestApp;
  let acme: TestTenant;
  beforeAll(async () => {
    app = await sharedApp();
  });
  afterAll(() => app.close());

  async function withAuthority(): Promise<{ authority: Authority; device: EnrolledDevice }> {
    acme = await app.newTenant();
    const authority = newAuthority();
    const { certificatePem: certificate, privateKeyPem: privateKey } = authority;
    await acme.admin.post(CA, { certificate, privateKey });
    const device = await enrolledDevice(app, acme);
    device.client.close();
    return { authority, device };
  }
  const replace = () => {
    const { certificatePem: certificate, privateKeyPem: privateKey } = newAuthority();
    return acme.admin.post(CA, { certificate, privateKey });
  };
  const remove = () => acme.admin.delete(CA);

  async function answerTo({ certificatePem, privateKeyPem }: Pair): Promise<number> {
    const client = app.device(certificatePem, privateKeyPem);
    try {
      return (await client.get(POLICIES)).status;
    } finally {
      client.close();
    }
  }

  it.each([
    ['in use', () => Promise.resolve()],
    ['replaced', replace],
    ['removed', remove],
  ])('authenticates the certificates that it issued, and no others, while it is %s', async (_state, change) => {
    const { authority, device } = await withAuthority();
    const forged = forge(authority, acme.tenantId, device);
    await change();
    expect([await answerTo(forged), await answerTo(device)]).toEqual([401, 200]);
  });

  it('does not authenticate a renewal either', async () => {
    const { authority, device } = await withAuthority();
    await remove();
    const { certificatePem, privateKeyPem } = forge(authority, acme.tenantId, device);
    const client = app.device(certificatePem, privateKeyPem);
    expect((await client.post('/api/v1/ext/certificate/renew')).status).toBe(401);
    client.close();
  });

  describe('with a certificate that was issued before public keys were recorded', () => {
    /** As an earlier version recorded it: the same certificate, without its key. */
    async function forgetKey({ deviceId, certificatePem, expiresAt }: EnrolledDevice): Promise<void> {
      const data = {
        deviceId,
        serialNumber: new X509Certificate(certificatePem).serialNumber,
        publicKeySha256: null,
        expiresAt,
        previousValidUntil: null,
      };
      await recorded(deviceId, { type: 'DeviceCertificateIssued', data });
    }
    async function recorded(deviceId: string, event: DeviceEvent): Promise<void> {
      const stream = () => deviceStream(acme.tenantId, deviceId);
      const record = defineCommand({
        name: 'RecordForTest',
        aggregate: deviceAggregate,
        stream,
        decide: () => accept([event]),
      });
      const { position } = orThrow(
        await app.services.executor.execute(record, undefined, { tenantId: acme.tenantId, actor: system('test') }),
      );
      await app.services.freshness.waitFor(['live-state'], position!, 10_000);
    }
    const pinned = async ({ deviceId }: EnrolledDevice) =>
      (
        await app.services.ports.aggregates.load(deviceAggregate, deviceStream(acme.tenantId, deviceId))
      ).certificates.map(({ publicKeySha256 }) => publicKeySha256);

    it.each([
      ['in use', () => Promise.resolve()],
      ['replaced', replace],
    ])('binds it to the first key that presents it, while the authority is %s', async (_state, change) => {
      const { authority, device } = await withAuthority();
      await forgetKey(device);
      await change();
      expect(await answerTo(device)).toBe(200);
      const key = new X509Certificate(device.certificatePem).publicKey.export({ type: 'spki', format: 'der' });
      expect(await pinned(device)).toEqual([createHash('sha256').update(key).digest('hex')]);
      await remove();
      expect([await answerTo(forge(authority, acme.tenantId, device)), await answerTo(device)]).toEqual([401, 200]);
    });

    it('admits one of two keys that present it at the same time', async () => {
      const { authority, device } = await withAuthority();
      await forgetKey(device);
      const answers = await Promise.all([answerTo(device), answerTo(forge(authority, acme.tenantId, device))]);
      expect(answers.sort()).toEqual([200, 401]);
    });

    it('authenticates nobody once an administrator has removed the authority', async () => {
      const { authority, device } = await withAuthority();
      await forgetKey(device);
      await remove();
      expect([await answerTo(forge(authority, acme.tenantId, device)), await answerTo(device)]).toEqual([401, 401]);
      expect(await pinned(device)).toEqual([null]);
    });
  });
});
