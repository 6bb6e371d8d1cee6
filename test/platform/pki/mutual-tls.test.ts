import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:tls';
import type { ConnectionOptions, TLSSocket, TlsOptions } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { isFailure } from '../../../src/platform/kernel/failure.ts';
import { trustAuthority, verifyDeviceCertificate } from '../../../src/platform/pki/device-identity.ts';
import { prepareCertificateIssuer } from '../../../src/platform/pki/certificate-issuer.ts';
import { issueRevocationList } from '../../../src/platform/pki/revocation-list.ts';
import { issueServerCertificate } from '../../../src/platform/pki/server-certificate.ts';
import { DAY, issued, newAuthority, newTenant, rsaAuthority } from './fixtures.ts';

const now = Date.now();
const server = issueServerCertificate({ hostNames: ['localhost'], ipAddresses: ['127.0.0.1'], now, days: 1 });
const tenantId = newTenant();
const deviceId = randomUUID();
const generated = newAuthority(now);
const rsa = rsaAuthority({ notBefore: now - DAY });
const issuer = prepareCertificateIssuer(generated);
const enroll = (authority: { certificatePem: string; privateKeyPem: string }) =>
  issued(prepareCertificateIssuer(authority), { tenantId, deviceId, notBefore: now, notAfter: now + DAY });

interface Seen {
  readonly authorized: boolean;
  readonly error: string;
  readonly raw: Buffer | undefined;
}

/** One handshake between a real server and a real client: the server's view of the client. */
async function handshake(options: TlsOptions, client: ConnectionOptions): Promise<Seen> {
  const listener = createServer({
    cert: server.certificatePem,
    key: server.privateKeyPem,
    requestCert: true,
    rejectUnauthorized: false,
    ...options,
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  const socket = connect({ port, host: '127.0.0.1', servername: 'localhost', ca: server.certificatePem, ...client });
  try {
    const [[peer]] = (await Promise.all([once(listener, 'secureConnection'), once(socket, 'secureConnect')])) as [
      [TLSSocket],
      unknown,
    ];
    const seen = {
      authorized: peer.authorized,
      error: String(peer.authorizationError ?? ''),
      raw: peer.getPeerCertificate().raw,
    };
    peer.destroy();
    return seen;
  } finally {
    socket.destroy();
    listener.close();
  }
}

describe('a mutual TLS handshake', () => {
  it.each([
    ['TLSv1.3', 'P-256', generated],
    ['TLSv1.2', 'P-256', generated],
    ['TLSv1.3', 'RSA', rsa],
    ['TLSv1.2', 'RSA', rsa],
  ] as const)(
    'over %s shows the server the identity of the device, under a %s authority',
    async (version, _which, authority) => {
      const device = enroll(authority);
      const client = {
        cert: device.certificatePem,
        key: device.privateKeyPem,
        minVersion: version,
        maxVersion: version,
      };
      const seen = await handshake({ ca: authority.certificatePem }, client);
      expect(seen).toMatchObject({ authorized: true });
      const trusted = [trustAuthority(tenantId, authority.certificatePem)];
      expect(verifyDeviceCertificate(seen.raw ?? '', trusted, now)).toMatchObject({
        tenantId,
        deviceId,
        serialNumber: device.serialNumber,
      });
    },
  );

  it('leaves the decision to the application if the listener knows no authority', async () => {
    const device = enroll(generated);
    const seen = await handshake({}, { cert: device.certificatePem, key: device.privateKeyPem });
    expect(seen.authorized).toBe(false);
    const verdict = (tenant: typeof tenantId) =>
      verifyDeviceCertificate(seen.raw ?? '', [trustAuthority(tenant, generated.certificatePem)], now);
    expect(verdict(tenantId)).toMatchObject({ deviceId });
    expect(verdict(newTenant())).toEqual({ refused: 'unknown authority' });
  });

  it('shows no identity if the client presents no certificate', async () => {
    const { raw } = await handshake({ ca: generated.certificatePem }, {});
    expect(raw).toBeUndefined();
  });

  it('is refused by node once the device is on the revocation list', async () => {
    const device = enroll(generated);
    const list = issueRevocationList(issuer, [{ serialNumber: device.serialNumber, revokedAt: now }], {
      thisUpdate: now - 1000,
      nextUpdate: now + DAY,
      number: 1,
    });
    if (isFailure(list)) throw new Error(list.message);
    const listener = { ca: generated.certificatePem, crl: list.pem };
    const client = { cert: device.certificatePem, key: device.privateKeyPem };
    expect(await handshake(listener, client)).toMatchObject({ authorized: false, error: 'CERT_REVOKED' });
    const other = enroll(generated);
    expect(await handshake(listener, { cert: other.certificatePem, key: other.privateKeyPem })).toMatchObject({
      authorized: true,
    });
  });

  it('fails for a client that expects another name or trusts another server', async () => {
    await expect(handshake({}, { servername: 'evil.example' })).rejects.toThrow(/evil\.example/);
    const stranger = issueServerCertificate({ hostNames: ['localhost'], ipAddresses: [], now, days: 1 });
    await expect(handshake({}, { ca: stranger.certificatePem })).rejects.toThrow();
  });
});
