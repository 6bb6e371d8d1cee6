import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import pg from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { endingOf } from '../../../src/app/cli/outcome.ts';
import { EmbeddedPostgresFailed } from '../../../src/platform/embedded/failed.ts';
import { refusedListening } from '../../../src/app/http/refused-listening.ts';
import { describeStartError, isLasting } from '../../../src/app/operations/start-error.ts';
import { requireVersion } from '../../../src/platform/database/access.ts';
import { ConfigError } from '../../../src/platform/config-error.ts';
import { startApp } from '../../dsl/app.ts';
import { licensePublicKeyPem } from '../../dsl/licenses.ts';
import { scratchFolder } from '../../dsl/scratch.ts';

const folder = scratchFolder('refused-starts');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const OWN = {
  DATABASE_URL: 'postgresql://castellan@127.0.0.1:1/castellan',
  MASTER_KEY: 'a'.repeat(64),
  AUDIT_HMAC_KEY: 'b'.repeat(64),
  LICENSE_PUBLIC_KEY: licensePublicKeyPem,
  DATA_DIR: join(folder, 'data'),
};

/** Starts the service as an operator does. Returns exit code and standard error, in lines. */
async function start(env: Record<string, string>): Promise<[number | null, string[]]> {
  const child = spawn(process.execPath, ['scripts/run.mjs', 'src/main.ts'], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const [[code], errors] = await Promise.all([once(child, 'exit'), text(child.stderr)]);
  return [code as number | null, errors.trimEnd().split('\n')];
}

describe('a start that cannot succeed says so in one sentence, without a stack', () => {
  it.each([
    [
      'settings',
      2,
      { ...OWN, PORT: 'abc', TRUSTED_PROXIES: 'not-an-ip', LICENSE_PUBLIC_KEY: 'garbage' },
      [
        'castellan: 3 settings are wrong:',
        '  PORT must be a whole number from 0 to 65535',
        '  LICENSE_PUBLIC_KEY must be an Ed25519 public key in PEM (`castellan keys make` creates one)',
        '  TRUSTED_PROXIES must list IP addresses or CIDR ranges, separated by commas: 10.0.0.0/8, 192.0.2.7',
      ],
    ],
    [
      'the receiver of spans',
      2,
      { ...OWN, OTEL_EXPORTER_OTLP_ENDPOINT: 'nonsense' },
      ['castellan: OTEL_EXPORTER_OTLP_ENDPOINT must be a web address, such as https://example.com'],
    ],
    [
      'the host is an address of another machine',
      2,
      { ...OWN, HOST: '203.0.113.7' },
      ['castellan: HOST: this machine does not have the address 203.0.113.7'],
    ],
    [
      'the host is a name without an address',
      2,
      { ...OWN, HOST: '127.0.0.1:8080' },
      ['castellan: HOST: the name 127.0.0.1:8080 has no address'],
    ],
    [
      'the database is away',
      1,
      OWN,
      [expect.stringMatching(/^castellan: DATABASE_URL: the database cannot be reached \(.*ECONNREFUSED.*\)$/)],
    ],
    [
      'the database is away, without a word of a library about TLS',
      1,
      { ...OWN, DATABASE_URL: `${OWN.DATABASE_URL}?sslmode=require` },
      [expect.stringMatching(/^castellan: DATABASE_URL: the database cannot be reached \(.*ECONNREFUSED.*\)$/)],
    ],
    [
      'the database is unknown',
      1,
      { ...OWN, DATABASE_URL: 'postgresql://castellan@no-such-host.invalid/castellan' },
      [expect.stringMatching(/^castellan: DATABASE_URL: the database cannot be reached \(.*no-such-host\.invalid\)$/)],
    ],
    [
      'a key twice, and a file of another that is not there',
      2,
      { ...OWN, MASTER_KEY_FILE: '/nowhere', AUDIT_HMAC_KEY: '', AUDIT_HMAC_KEY_FILE: '/nowhere' },
      [
        'castellan: 2 settings are wrong:',
        '  MASTER_KEY and MASTER_KEY_FILE are both set: remove one',
        '  AUDIT_HMAC_KEY_FILE names /nowhere, which cannot be read (ENOENT): correct the path or its rights',
      ],
    ],
  ] as const)('%s', async (_, code, env, lines) => {
    expect(await start(env)).toEqual([code, lines]);
  });

  it('the data directory cannot be written', async () => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'a-file'), '');
    expect(await start({ ...OWN, DATA_DIR: join(folder, 'a-file/data') })).toEqual([
      1,
      [
        expect.stringMatching(
          /^castellan: DATA_DIR: .*a-file\/data cannot be written \(it is a file, .*\)\. Set DATA_DIR to /,
        ),
      ],
    ]);
  });

  it('the embedded database is absent, and heads of it were sealed', async () => {
    const dataDir = join(folder, 'lost');
    mkdirSync(dataDir, { recursive: true });
    const head = { tenantId: '0198a000-0000-7000-8000-000000000001', sequence: 9, mac: 'f'.repeat(64) };
    writeFileSync(join(dataDir, 'audit-heads.jsonl'), JSON.stringify(head));
    expect(await start({ DATA_DIR: dataDir, PORT: '0', TLS_PORT: '0' })).toEqual([
      2,
      [
        'castellan: there is no database in DATA_DIR, and audit-heads.jsonl knows sealed heads of 1 chains: restore the database, or use the one that belongs to DATA_DIR; to begin anew, put audit-heads.jsonl elsewhere',
      ],
    ]);
    expect(existsSync(join(dataDir, 'postgres'))).toBe(false);
  });

  it.each(['port', 'tlsPort'] as const)('another process has the %s', async (setting) => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const name = setting === 'port' ? 'PORT' : 'TLS_PORT';
    const error = await startApp({ [setting]: port }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ConfigError);
    expect(describeStartError(error)).toBe(
      `${name}: another process listens at 127.0.0.1:${port}; end it, or set another ${name}`,
    );
    other.close();
  });

  it.each([
    ['EACCES', false, 'PORT: this user may not listen at 127.0.0.1:80; ports below 1024 need a right of their own'],
    ['EAI_AGAIN', false, 'HOST: the name 127.0.0.1 cannot be looked up now'],
    ['EADDRNOTAVAIL', true, 'HOST: this machine does not have the address 127.0.0.1'],
    ['EINVAL', true, expect.stringMatching(/^HOST: 127\.0\.0\.1 is not complete/)],
    ['EAFNOSUPPORT', true, 'HOST: this machine has no addresses of the kind of 127.0.0.1'],
  ])('the machine refuses to listen: %s', (code, isWrongSetting, sentence) => {
    const error = refusedListening(Object.assign(new Error('listen'), { code }), 'PORT', '127.0.0.1', 80);
    expect([describeStartError(error), isLasting(error)]).toEqual([sentence, isWrongSetting]);
  });

  it('PostgreSQL is too old', () => {
    expect(() => requireVersion(140_012)).toThrow('DATABASE_URL leads to PostgreSQL 14: Castellan needs 15 or newer');
    requireVersion(150_000);
  });

  it.each([
    [
      'the certificate of the database',
      Object.assign(new Error('unable to verify the first certificate'), { code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' }),
      'DATABASE_URL: the database cannot be reached (unable to verify the first certificate)',
    ],
    [
      'a database without TLS',
      new Error('The server does not support SSL connections'),
      'DATABASE_URL: the database cannot be reached (The server does not support SSL connections)',
    ],
    [
      'a right that is missing',
      Object.assign(new pg.DatabaseError('permission denied for table events', 0, 'error'), {
        severity: 'ERROR',
        code: '42501',
      }),
      expect.stringMatching(/^the database refuses .*permission denied for table events.*castellan doctor/),
    ],
    [
      'a full disk',
      Object.assign(new Error('could not extend file'), { code: '53100' }),
      'the disk of the database is full (could not extend file)',
    ],
    [
      'an embedded PostgreSQL that ends',
      new EmbeddedPostgresFailed('did not start: it ended with status 1: No space left on device'),
      'the embedded PostgreSQL did not start: it ended with status 1: No space left on device',
    ],
  ])('%s', (_title, error, sentence) => {
    expect(describeStartError(error)).toEqual(sentence);
    expect(endingOf(error)).toEqual({ outcome: 'unavailable', message: expect.not.stringContaining('report') });
  });

  it('any other error keeps its stack', () => {
    expect(describeStartError(new TypeError('a mistake of ours'))).toMatch(/a mistake of ours\n +at /);
  });
});
