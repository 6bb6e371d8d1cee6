import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { serverCertificate } from '../../../src/contexts/certificates/server-certificate.ts';
import { issueServerCertificate } from '../../../src/platform/pki/server-certificate.ts';
import { PrivateAuthority } from '../../fixtures/eventstoredb/certificates.ts';
import { scratchFolder } from '../../dsl/scratch.ts';

const DAY_MS = 86_400_000;

describe('the certificate in DATA_DIR/tls', () => {
  const dataDir = scratchFolder('tls');
  const file = (name: string) => join(dataDir, 'tls', name);
  const current = () => serverCertificate({ config: { dataDir } });
  const put = (certificatePem: string, privateKeyPem: string) => {
    mkdirSync(join(dataDir, 'tls'), { recursive: true });
    writeFileSync(file('server.crt'), certificatePem);
    writeFileSync(file('server.key'), privateKeyPem);
  };
  afterEach(() => {
    vi.useRealTimers();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('is created once, and renewed in its last 30 days', async () => {
    const first = await current();
    expect(await current()).toEqual(first);
    vi.useFakeTimers({ now: Date.now() + 334 * DAY_MS, toFake: ['Date'] });
    expect(await current()).toEqual(first);
    vi.setSystemTime(Date.now() + 2 * DAY_MS);
    const second = await current();
    expect(second).not.toEqual(first);
    expect(readFileSync(file('server.crt'), 'utf8')).toBe(second.certificatePem);
  });

  it.each([
    [
      'an authority signed',
      () => new PrivateAuthority().issue('castellan.example', { dns: 'localhost', ip: '127.0.0.1' }),
    ],
    [
      'signed itself',
      () =>
        issueServerCertificate({
          hostNames: ['castellan.example'],
          ipAddresses: ['127.0.0.1', '::1'],
          now: Date.now(),
          days: 20,
        }),
    ],
  ])('is never replaced if the operator put it there: one that %s', async (_, issue) => {
    const { certificatePem, privateKeyPem } = issue();
    put(certificatePem, privateKeyPem);
    vi.useFakeTimers({ now: Date.now() + 3_650 * DAY_MS, toFake: ['Date'] });
    expect(await current()).toEqual({ certificatePem, privateKeyPem });
    expect(readFileSync(file('server.key'), 'utf8')).toBe(privateKeyPem);
  });

  it('is refused in words, and left alone, if the pair cannot be used', async () => {
    const [one, other] = [await current(), new PrivateAuthority().issue('other')];
    put(one.certificatePem, other.privateKeyPem);
    await expect(current()).rejects.toThrow(/server\.crt and .*server\.key must be a certificate and its private key/);
    rmSync(file('server.key'));
    await expect(current()).rejects.toThrow(/\(ENOENT\)/);
    expect(readFileSync(file('server.crt'), 'utf8')).toBe(one.certificatePem);
  });
});
