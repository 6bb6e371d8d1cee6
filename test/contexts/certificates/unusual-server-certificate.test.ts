import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { X509Certificate } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { examination } from '../../../src/app/cli/doctor.ts';
import { ListenerCertificate } from '../../../src/contexts/certificates/listener-certificate.ts';
import { embed, encode, sequence, type Node } from '../../../src/platform/pki/der.ts';
import { elements, readDer } from '../../../src/platform/pki/der-reader.ts';
import { firstCertificate, pem } from '../../../src/platform/pki/pem.ts';
import { issueServerCertificate } from '../../../src/platform/pki/server-certificate.ts';
import { scratchFolder } from '../../dsl/scratch.ts';

/** Fields of the signed part of a certificate of version 3. */
const [VERSION, SUBJECT, EXTENSIONS] = [0, 5, 7];

const issued = (now = Date.now(), days = 400) =>
  issueServerCertificate({ hostNames: ['castellan.example'], ipAddresses: [], now, days });

const membersOf = (der: Buffer): Node[] => elements(readDer(der).content).map(embed);

/** The same with other fields. Its signature is no longer right, which neither OpenSSL nor a listener looks at. */
function altered(certificatePem: string, alter: (fields: Node[]) => Node[]): string {
  const [signed, ...rest] = elements(readDer(firstCertificate(certificatePem)).content);
  return pem('CERTIFICATE', encode(sequence(sequence(...alter(membersOf(signed!.der))), ...rest.map(embed))));
}

const firstVersion = (certificatePem: string): string =>
  altered(certificatePem, (fields) => fields.filter((_, index) => index !== VERSION && index !== EXTENSIONS));
const nameless = (certificatePem: string): string =>
  altered(certificatePem, (fields) => fields.map((field, index) => (index === SUBJECT ? sequence() : field)));
const otherLabel = (certificatePem: string): string => certificatePem.replaceAll('CERTIFICATE', 'X509 CERTIFICATE');

/** Made by OpenSSL's own program: ours makes no such certificates. */
function selfSigned(key: { namedCurve?: string; modulusLength?: number }, more: readonly string[]) {
  const folder = scratchFolder('self-signed');
  mkdirSync(folder, { recursive: true });
  const [keyFile, file] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
  const kind = key.namedCurve
    ? ['-newkey', 'ec', '-pkeyopt', `ec_paramgen_curve:${key.namedCurve}`]
    : ['-newkey', `rsa:${key.modulusLength}`];
  const args = ['req', '-x509', ...kind, '-nodes', '-keyout', keyFile, '-out', file, '-days', '90', ...more];
  execFileSync('openssl', [...args, '-subj', '/CN=castellan.example'], { stdio: 'pipe' });
  const made = { certificatePem: readFileSync(file, 'utf8'), privateKeyPem: readFileSync(keyFile, 'utf8') };
  rmSync(folder, { recursive: true });
  return made;
}

describe('a certificate in DATA_DIR/tls that an operator made', () => {
  const dataDir = scratchFolder('unusual-tls');
  afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

  const put = (certificatePem: string, privateKeyPem: string) => {
    mkdirSync(join(dataDir, 'tls'), { recursive: true });
    writeFileSync(join(dataDir, 'tls/server.crt'), certificatePem);
    writeFileSync(join(dataDir, 'tls/server.key'), privateKeyPem);
  };
  const listener = (log: object = {}) =>
    new ListenerCertificate({
      log,
      config: { dataDir },
      cache: { onEvent: () => undefined },
      vitalReads: () => ({ one: () => Promise.resolve(undefined) }),
    } as unknown as ConstructorParameters<typeof ListenerCertificate>[0]);
  const judged = async () =>
    (await examination({ DATA_DIR: dataDir, PORT: '0', TLS_PORT: '0' })).checks.find(
      ({ check }) => check === 'tls certificate',
    );

  it.each([
    ['of version 1, as `openssl x509 -req` makes it', firstVersion, 'CN=castellan.example'],
    ['with an empty subject', nameless, ''],
    ['with another label', otherLabel, 'CN=castellan.example'],
  ])('is used, shown and fine for doctor: one %s', async (_, alter, subject) => {
    const { certificatePem, privateKeyPem } = issued();
    const unusual = alter(certificatePem);
    put(unusual, privateKeyPem);
    const certificate = listener();
    expect(await certificate.begin()).toEqual({ certificatePem: unusual, privateKeyPem });
    const { validTo, serialNumber } = new X509Certificate(certificatePem);
    expect(certificate.status).toMatchObject({ subject, serialNumber, expiresAt: Date.parse(validTo) });
    expect(await judged()).toMatchObject({ verdict: 'fine', message: expect.stringContaining(subject) as string });
  });

  it.each([
    ['a curve of no browser', { namedCurve: 'secp256k1' }, [], 'EC curve must be P-256, P-384 or P-521'],
    [
      'another purpose',
      { namedCurve: 'prime256v1' },
      ['-addext', 'extendedKeyUsage=clientAuth'],
      'extendedKeyUsage does not include serverAuth',
    ],
    ['a short key', { modulusLength: 1024 }, [], 'RSA key is shorter than 2048 bits'],
  ])(
    'is a finding of doctor, and a warning of the start, if clients refuse it: one with %s',
    async (_, key, more, weakness) => {
      const { certificatePem, privateKeyPem } = selfSigned(key, more);
      put(certificatePem, privateKeyPem);
      expect(await judged()).toMatchObject({
        verdict: 'finding',
        message: `CN=castellan.example: clients refuse it (${weakness}): use another one`,
      });
      const warned: object[] = [];
      await listener({ warn: (about: object) => warned.push(about) }).begin();
      expect(warned).toEqual([{ reason: weakness }]);
    },
  );

  it.each([
    ['2020-05-01T00:00:00Z', 31, 'CN=castellan.example, expired on 2020-06-01: renew it'],
    [
      '2101-01-01T12:00:00Z',
      400,
      'CN=castellan.example, not valid before 2101-01-01: use one that is valid now, or correct the clock of this machine',
    ],
  ])('is a finding of doctor if it is not valid now: one of %s for %d days', async (from, days, message) => {
    const { certificatePem, privateKeyPem } = issued(Date.parse(from), days);
    put(certificatePem, privateKeyPem);
    expect(await judged()).toEqual({ check: 'tls certificate', verdict: 'finding', message });
  });
});
