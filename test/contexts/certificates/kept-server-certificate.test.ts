import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { examination } from '../../../src/app/cli/doctor.ts';
import { describeStartError, isLasting } from '../../../src/app/operations/start-error.ts';
import { serverCertificate } from '../../../src/contexts/certificates/server-certificate.ts';
import { issueServerCertificate } from '../../../src/platform/pki/server-certificate.ts';
import { PrivateAuthority } from '../../fixtures/eventstoredb/certificates.ts';
import { makeNamedPipe } from '../../dsl/named-pipe.ts';
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
    await expect(current()).rejects.toThrow(/server\.key is missing\)/);
    expect(readFileSync(file('server.crt'), 'utf8')).toBe(one.certificatePem);
  });

  const text = (content: string) => (path: string) => writeFileSync(path, content);
  const stops: (() => void)[] = [];
  const damages: [string, (path: string) => void, RegExp][] = [
    ['missing', () => undefined, /must be a certificate and its private key .*\(\S+ is missing\)/],
    ['empty', text(''), /\(\S+ holds no /],
    ['garbage', text('garbage'), /\(\S+ holds no /],
    ['cut off', text('-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg'), /\(\S+ holds no /],
    ['a folder', (path) => mkdirSync(path), /is a folder, where a file must be/],
    ['a named pipe', (path) => stops.push(makeNamedPipe(path)), /is a named pipe, where a file must be/],
    ['a device', (path) => symlinkSync('/dev/zero', path), /is a device, where a file must be/],
    ['a link to nothing', (path) => symlinkSync('gone', path), /is a link to nothing, where a file must be/],
    ['a loop', (path) => symlinkSync(path, path), /leads into a loop of links/],
  ];
  it.each(
    ['server.crt', 'server.key'].flatMap((name) =>
      damages.map(([how, damage, sentence]) => [name, how, damage, sentence] as const),
    ),
  )('is judged alike by start and doctor if %s is %s', async (name, _how, damage, sentence) => {
    await current();
    rmSync(file(name));
    damage(file(name));
    const error: unknown = await current().catch((reason: unknown) => reason);
    const message = describeStartError(error);
    expect([isLasting(error), message]).toEqual([true, expect.stringMatching(sentence)]);
    expect(message).toContain(file(name));
    const { checks } = await examination({ DATA_DIR: dataDir, PORT: '0', TLS_PORT: '0' });
    stops.splice(0).forEach((stop) => stop());
    expect(checks.filter(({ verdict }) => verdict === 'finding' || verdict === 'unknown')).toMatchObject([
      { check: 'tls certificate', message },
    ]);
  });

  const nothingButAFolder = 'put the folder in its place, or remove it, and an empty one is created';
  it.each([
    ['a file', (path: string) => writeFileSync(path, ''), 'no folder'],
    ['a link to nothing', (path: string) => symlinkSync('gone', path), 'a link to nothing'],
  ])('is judged alike by start and doctor if its folder is %s', async (_how, damage, kind) => {
    mkdirSync(dataDir, { recursive: true });
    damage(join(dataDir, 'tls'));
    const error: unknown = await current().catch((reason: unknown) => reason);
    const message = `${join(dataDir, 'tls')} is ${kind}, where a folder must be: ${nothingButAFolder}`;
    expect([isLasting(error), describeStartError(error)]).toEqual([true, message]);
    const { checks } = await examination({ DATA_DIR: dataDir, PORT: '0', TLS_PORT: '0' });
    expect(checks.filter(({ verdict }) => verdict === 'finding' || verdict === 'unknown')).toEqual([
      { check: 'tls certificate', verdict: 'finding', message },
    ]);
  });

  it('is not written through a link to nothing', async () => {
    mkdirSync(join(dataDir, 'tls'), { recursive: true });
    symlinkSync('gone', file('server.key'));
    await expect(current()).rejects.toThrow(/is a link to nothing/);
    expect([existsSync(file('gone')), existsSync(file('server.crt'))]).toEqual([false, false]);
  });

  it('is judged alike by start and doctor if the key is of another certificate', async () => {
    put((await current()).certificatePem, new PrivateAuthority().issue('other').privateKeyPem);
    const error: unknown = await current().catch((reason: unknown) => reason);
    const { checks } = await examination({ DATA_DIR: dataDir, PORT: '0', TLS_PORT: '0' });
    expect([isLasting(error), checks.filter(({ verdict }) => verdict === 'finding')]).toMatchObject([
      true,
      [{ check: 'tls certificate', message: (error as Error).message }],
    ]);
  });
});
