// The peer decorates its classes when it loads, and needs this before that.
import 'reflect-metadata';
import { randomUUID, webcrypto as crypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { isFailure } from '../src/platform/kernel/failure.ts';
import { asTenantId } from '../src/platform/kernel/ids.ts';
import { createAuthority } from '../src/platform/pki/authority.ts';
import { issueDeviceCertificate } from '../src/platform/pki/device-certificate.ts';
import { trustAuthority, verifyDeviceCertificate } from '../src/platform/pki/device-identity.ts';
import { prepareCertificateIssuer } from '../src/platform/pki/certificate-issuer.ts';
import { firstCertificate } from '../src/platform/pki/pem.ts';

export interface Row {
  readonly name: string;
  readonly ours: number;
  readonly peer: number;
  readonly unit: string;
  readonly ratio: number;
  readonly target: string;
}

/** Does the work `times` times. */
type Work = (times: number) => Promise<void>;

const YEAR_MS = 365 * 86_400_000;
const WARM_UP = 4;
const ROUNDS = 7;
const ROUND_MS = 400;
// The peer waits for a thread pool; more than one concurrent operation is to its advantage.
const IN_FLIGHT = 16;

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
x509.cryptoProvider.set(crypto);

const tenantId = asTenantId(randomUUID());
const now = Date.now();
const authority = createAuthority({ commonName: 'Benchmark CA', organization: 'Acme', years: 10, now });
const issuer = prepareCertificateIssuer(authority);

function issueOurs(): string {
  const device = issueDeviceCertificate(issuer, {
    tenantId,
    deviceId: randomUUID(),
    notBefore: now,
    notAfter: now + YEAR_MS,
  });
  if (isFailure(device)) throw new Error(device.message);
  return device.certificatePem;
}

async function peerIssuer(): Promise<() => Promise<string>> {
  const pkcs8 = x509.PemConverter.decodeFirst(authority.privateKeyPem);
  const signingKey = await crypto.subtle.importKey('pkcs8', pkcs8, ALGORITHM, false, ['sign']);
  const ca = new x509.X509Certificate(authority.certificatePem);
  const authorityKeyIdentifier = await x509.AuthorityKeyIdentifierExtension.create(ca, false, crypto);
  return async () => {
    const deviceId = randomUUID();
    const keys = await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
    const certificate = await x509.X509CertificateGenerator.create({
      serialNumber: randomUUID().replaceAll('-', ''),
      subject: `O=${tenantId}, CN=${deviceId}`,
      issuer: ca.subject,
      notBefore: new Date(now),
      notAfter: new Date(now + YEAR_MS),
      signingAlgorithm: ALGORITHM,
      publicKey: keys.publicKey,
      signingKey,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth]),
        new x509.SubjectAlternativeNameExtension([
          { type: 'url', value: `spiffe://castellan/tenant/${tenantId}/device/${deviceId}` },
        ]),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
        authorityKeyIdentifier,
      ],
    });
    x509.PemConverter.encode(await crypto.subtle.exportKey('pkcs8', keys.privateKey), 'PRIVATE KEY');
    return certificate.toString('pem');
  };
}

/** A listener's work with a presented certificate: parse it, find its name, check its dates, purpose and signature. */
async function peerVerifier(): Promise<(der: Buffer) => Promise<void>> {
  const publicKey = await new x509.X509Certificate(authority.certificatePem).publicKey.export(crypto);
  return async (der) => {
    const certificate = new x509.X509Certificate(der);
    const name = certificate.getExtension(x509.SubjectAlternativeNameExtension)?.names.items[0]?.value;
    const constraints = certificate.getExtension(x509.BasicConstraintsExtension);
    const purposes = certificate.getExtension(x509.ExtendedKeyUsageExtension);
    const sound =
      name?.startsWith('spiffe:') && !constraints?.ca && purposes?.usages.includes(x509.ExtendedKeyUsage.clientAuth);
    if (!sound || !(await certificate.verify({ publicKey, date: new Date(now) }, crypto)))
      throw new Error('the peer refused a sound certificate');
  };
}

const sequentially =
  (once: () => unknown): Work =>
  async (times) => {
    for (let done = 0; done < times; done += 1) once();
  };

const inFlight =
  (once: () => Promise<unknown>): Work =>
  async (times) => {
    for (let done = 0; done < times; done += IN_FLIGHT) await Promise.all(Array.from({ length: IN_FLIGHT }, once));
  };

/** Operations per second over one round of about `ROUND_MS`. */
async function rate(work: Work, step: number): Promise<number> {
  const started = performance.now();
  let done = 0;
  while (performance.now() - started < ROUND_MS) {
    await work(step);
    done += step;
  }
  return (done * 1000) / (performance.now() - started);
}

const median = (numbers: readonly number[]): number => numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? 0;

/** Alternates both sides, after a few warm-up rounds, so that neither gets a faster phase of the machine. */
async function compare(name: string, target: string, ours: Work, peer: Work): Promise<Row> {
  const rates: { ours: number[]; peer: number[] } = { ours: [], peer: [] };
  for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
    rates.ours.push(await rate(ours, 100));
    rates.peer.push(await rate(peer, IN_FLIGHT));
  }
  const [oursMedian, peerMedian] = [median(rates.ours.slice(WARM_UP)), median(rates.peer.slice(WARM_UP))];
  return { name, ours: oursMedian, peer: peerMedian, unit: '/s', ratio: oursMedian / peerMedian, target };
}

/**
 * Device certificates compared with @peculiar/x509: both sides generate P-256 keys, sign the same profile and write PEM
 * of certificate and key.
 */
export async function measure(): Promise<Row[]> {
  const peerIssues = await peerIssuer();
  const peerVerifies = await peerVerifier();
  const trusted = [trustAuthority(tenantId, authority.certificatePem)];
  const presented = firstCertificate(issueOurs());
  const verifyOurs = (): void => {
    if ('refused' in verifyDeviceCertificate(presented, trusted, now))
      throw new Error('a sound certificate was refused');
  };
  return [
    await compare(
      'device certificates issued (key pair, certificate, PEM of both)',
      'at least 4x',
      sequentially(issueOurs),
      inFlight(peerIssues),
    ),
    await compare(
      'device certificates verified',
      'at least 4x',
      sequentially(verifyOurs),
      inFlight(() => peerVerifies(presented)),
    ),
  ];
}
