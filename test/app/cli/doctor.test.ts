import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, rmSync, rmdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { examination } from '../../../src/app/cli/doctor.ts';
import type { Config } from '../../../src/app/config/config.ts';
import { completeness, keys, licenses } from '../../../src/app/operations/examined-database.ts';
import { describeStartError, isLasting } from '../../../src/app/operations/start-error.ts';
import { startEmbeddedPostgres } from '../../../src/platform/embedded/postgres.ts';
import { issueServerCertificate } from '../../../src/platform/pki/server-certificate.ts';
import { startStandIn } from '../../fixtures/eventstoredb/stand-in.ts';
import { startApp, type TestApp } from '../../dsl/app.ts';
import type { Pool } from 'pg';
import { findRedis, startRedis } from '../../dsl/redis.ts';
import { makeNamedPipe } from '../../dsl/named-pipe.ts';
import { imitateCluster } from '../../dsl/imitated-cluster.ts';
import { scratchFolder } from '../../dsl/scratch.ts';
import { licensePublicKeyPem } from '../../dsl/licenses.ts';

const folder = scratchFolder('doctor');
const BASE = { DATA_DIR: folder, PORT: '0', TLS_PORT: '0' };
const OWN = {
  ...BASE,
  MASTER_KEY: 'a'.repeat(64),
  AUDIT_HMAC_KEY: 'b'.repeat(64),
  LICENSE_PUBLIC_KEY: licensePublicKeyPem,
};

const SEALED_HEAD = JSON.stringify({
  tenantId: '0198a000-0000-7000-8000-000000000001',
  sequence: 9,
  mac: 'f'.repeat(64),
});

const verdictsOf = async (env: NodeJS.ProcessEnv) => {
  const { checks, outcome } = await examination(env);
  const of = (check: string) => checks.filter((each) => each.check === check);
  return { outcome, checks, of };
};

describe('castellan doctor', () => {
  beforeEach(() => {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('writes nothing, and starts nothing', async () => {
    const { of } = await verdictsOf(BASE);
    expect(of('postgresql')).toMatchObject([
      { verdict: 'fine', message: expect.stringContaining('not running') as string },
    ]);
    expect(of('settings')).toMatchObject([{ verdict: 'fine' }]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('reports wrong settings alone, with an exit code of their own', async () => {
    const { outcome, checks } = await verdictsOf({ ...BASE, PORT: 'abc' });
    expect([outcome, checks]).toEqual([
      'usage',
      [{ check: 'settings', verdict: 'finding', message: expect.stringMatching(/^PORT must be/) as string }],
    ]);
  });

  it('shows the misspelt variable beside the wrong setting', async () => {
    const { outcome, checks } = await verdictsOf({ ...BASE, PORT: 'abc', DATABSE_URL: 'postgres://x' });
    expect([outcome, checks]).toEqual([
      'usage',
      [
        { check: 'settings', verdict: 'finding', message: expect.stringMatching(/^PORT must be/) as string },
        { check: 'settings', verdict: 'finding', message: expect.stringContaining('DATABSE_URL') as string },
      ],
    ]);
  });

  it('names a misspelled variable, a port in use, a short-lived certificate and a Redis that is away', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    mkdirSync(join(folder, 'tls'));
    const expiring = issueServerCertificate({
      hostNames: ['castellan.example'],
      ipAddresses: [],
      now: Date.now(),
      days: 20,
    });
    writeFileSync(join(folder, 'tls/server.crt'), expiring.certificatePem);
    const { outcome, of } = await verdictsOf({
      ...BASE,
      RATE_LIMT_RPS: '1',
      PORT: String(port),
      TLS_PORT: '0',
      REDIS_URL: 'redis://127.0.0.1:1',
    });
    other.close();
    expect(outcome).toBe('finding');
    for (const check of ['settings', 'tls certificate', 'redis'])
      expect(of(check)).toMatchObject([{ verdict: 'finding' }]);
    expect(of('ports')).toEqual([
      {
        check: 'ports',
        verdict: 'finding',
        message: `PORT: another process listens at 127.0.0.1:${port}; end it, or set another PORT`,
      },
      { check: 'ports', verdict: 'fine', message: 'TLS_PORT: any free port' },
    ]);
  });

  it.each([
    ['203.0.113.7', 'HOST: this machine does not have the address 203.0.113.7'],
    ['127.0.0.1:8080', 'HOST: the name 127.0.0.1:8080 has no address'],
  ])('finds a host at which nothing can listen, at any port: %s', async (host, message) => {
    const { outcome, of } = await verdictsOf({ ...BASE, HOST: host });
    expect(outcome).toBe('finding');
    expect(of('ports')).toEqual([{ check: 'ports', verdict: 'finding', message }]);
  });

  it('names a TLS port in use, also where the other port is any', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { of } = await verdictsOf({ ...BASE, TLS_PORT: String((other.address() as AddressInfo).port) });
    other.close();
    expect(of('ports')).toMatchObject([{ verdict: 'fine' }, { verdict: 'finding' }]);
  });

  it('finds nothing wrong with the ports of the service that runs', async () => {
    const app = await startApp();
    const [port, tlsPort] = [app.url, app.tlsUrl].map((url) => new URL(url).port);
    const database = { DATABASE_URL: 'postgresql://castellan@127.0.0.1:9/castellan' };
    const { of } = await verdictsOf({ ...OWN, ...database, PORT: port, TLS_PORT: tlsPort });
    await app.close();
    expect(of('ports')).toEqual([
      { check: 'ports', verdict: 'fine', message: `the service runs at 127.0.0.1:${port}` },
    ]);
  });

  it('finds the ports used by the service of another data directory', async () => {
    const app = await startApp();
    const [port, tlsPort] = [app.url, app.tlsUrl].map((url) => new URL(url).port);
    const { outcome, of } = await verdictsOf({ ...OWN, PORT: port, TLS_PORT: tlsPort });
    await app.close();
    expect([outcome, of('ports').map(({ verdict }) => verdict)]).toEqual(['finding', ['finding', 'finding']]);
  });

  it('says why Redis, the object storage and the data directory cannot be used', async () => {
    const storage = { S3_ENDPOINT: 'http://127.0.0.1:1', S3_BUCKET: 'bucket', S3_ACCESS_KEY_ID: 'k' };
    const { of } = await verdictsOf({
      ...OWN,
      ...storage,
      S3_SECRET_ACCESS_KEY: 's',
      REDIS_URL: 'redis://127.0.0.1:1',
      DATA_DIR: '/etc/passwd/data',
    });
    expect(of('redis')).toMatchObject([{ message: expect.stringMatching(/^REDIS_URL: .*ECONNREFUSED/) as string }]);
    expect(of('object storage')).toMatchObject([
      { verdict: 'finding', message: expect.stringMatching(/^S3_ENDPOINT http.*S3_TRUSTED=true$/) as string },
    ]);
    expect(of('data directory')).toMatchObject([
      { verdict: 'finding', message: expect.stringContaining('cannot create it') as string },
    ]);
  });

  it.each(['keys/master-key', 'tls/server.crt', 'audit-heads.jsonl'])(
    'finds what is no file in the place of %s, and does not wait for it',
    async (name) => {
      for (const each of ['keys', 'tls']) mkdirSync(join(folder, each));
      const stop = makeNamedPipe(join(folder, name));
      const { outcome, checks } = await verdictsOf(BASE);
      stop();
      expect([outcome, checks.filter(({ verdict }) => verdict === 'finding')]).toEqual([
        'finding',
        [
          {
            check: { keys: 'keys', tls: 'tls certificate' }[name.split('/')[0]!] ?? 'sealed heads',
            verdict: 'finding',
            message: `${join(folder, name)} is a named pipe, where a file must be: put the file in its place`,
          },
        ],
      ]);
    },
  );

  it.each(['master-key', 'audit-hmac-key', 'license-signing.pem', 'master-key.former'])(
    'distinguishes a key that cannot be looked at: %s',
    async (name) => {
      mkdirSync(join(folder, 'keys'));
      symlinkSync(name, join(folder, 'keys', name));
      const { outcome, of } = await verdictsOf(BASE);
      expect([outcome, of('keys')]).toEqual([
        'unavailable',
        [
          {
            check: 'keys',
            verdict: 'unknown',
            message: `${join(folder, 'keys', name)} leads into a loop of links: put the file in its place`,
          },
          expect.objectContaining({ verdict: 'fine' }),
        ],
      ]);
    },
  );

  it.each([
    ['a link to nothing', (path: string) => symlinkSync('gone', path), /audit-heads\.jsonl is a link to nothing/],
    ['a folder', (path: string) => mkdirSync(path), /audit-heads\.jsonl is a folder/],
    ['garbage', (path: string) => writeFileSync(path, 'one\ntwo\n'), /has 2 lines that are no sealed heads/],
    [
      'of what no owner can be',
      (path: string) => writeFileSync(path, SEALED_HEAD.replace('0198a000', '0198a\\u0000')),
      /has 1 line that is no sealed head/,
    ],
    [
      'beside no database',
      (path: string) => {
        mkdirSync(join(folder, 'postgres/socket'), { recursive: true });
        writeFileSync(path, SEALED_HEAD);
      },
      /no database in DATA_DIR, and audit-heads\.jsonl knows sealed heads of 1 chains/,
    ],
  ])('finds sealed heads that prove nothing: %s', async (_title, make, message) => {
    make(join(folder, 'audit-heads.jsonl'));
    const { outcome, of } = await verdictsOf(BASE);
    expect([outcome, of('sealed heads')]).toEqual([
      'finding',
      [{ check: 'sealed heads', verdict: 'finding', message: expect.stringMatching(message) as string }],
    ]);
  });

  it('finds nothing wrong with sealed heads beside their database', async () => {
    mkdirSync(join(folder, 'postgres/cluster'), { recursive: true });
    writeFileSync(join(folder, 'audit-heads.jsonl'), SEALED_HEAD);
    const { of } = await verdictsOf(BASE);
    expect(of('sealed heads')).toMatchObject([{ verdict: 'fine', message: '1 chains' }]);
  });

  it.each([
    ['no folder', (path: string) => writeFileSync(path, '')],
    ['a link to nothing', (path: string) => symlinkSync('gone', path)],
  ])('finds that the folder of the objects is %s', async (kind, make) => {
    const path = join(folder, 'objects');
    make(path);
    const { of } = await verdictsOf(BASE);
    expect(of('object storage')).toEqual([
      {
        check: 'object storage',
        verdict: 'finding',
        message: `${path} is ${kind}, where a folder must be: put the folder in its place, or remove it, and an empty one is created`,
      },
    ]);
  });

  const cluster = join(folder, 'postgres', 'cluster');
  it.each([
    [
      'no folder',
      () => writeFileSync(join(folder, 'postgres'), ''),
      /cannot use .*postgres, which is no folder: restore/,
    ],
    ['a link to nothing', () => symlinkSync('gone', join(folder, 'postgres')), /which is a link to nothing: restore/],
    [
      'a folder with a link to nothing in place of the cluster',
      () => (mkdirSync(join(folder, 'postgres')), symlinkSync('gone', cluster)),
      /cluster, which is a link to nothing: restore/,
    ],
    [
      'a folder with a file in place of the cluster',
      () => (mkdirSync(join(folder, 'postgres')), writeFileSync(cluster, '')),
      /cluster, which is no folder: restore/,
    ],
    [
      'a folder with a file in place of that of the socket',
      () => (mkdirSync(join(folder, 'postgres')), writeFileSync(join(folder, 'postgres/socket'), '')),
      /socket, which is no folder: remove it/,
    ],
    [
      'a folder with a link to nothing in place of that of the socket',
      () => (mkdirSync(join(folder, 'postgres')), symlinkSync('gone', join(folder, 'postgres/socket'))),
      /socket, which is a link to nothing: remove it/,
    ],
    [
      'a folder with a folder in place of its lock',
      () => mkdirSync(join(folder, 'postgres/owner.lock'), { recursive: true }),
      /owner\.lock, which is no file: remove it/,
    ],
    [
      'a folder with a named pipe in place of its lock',
      () => (mkdirSync(join(folder, 'postgres')), spawnSync('mkfifo', [join(folder, 'postgres/owner.lock')])),
      /owner\.lock, which is no file: remove it/,
    ],
    [
      'a cluster that others may enter',
      () => (imitateCluster(cluster), chmodSync(cluster, 0o755)),
      /cluster, which others may enter \(mode 755\): set its mode to 700/,
    ],
    ...['global/pg_control', 'postgresql.conf', 'pg_wal'].map((part): [string, () => unknown, RegExp] => [
      `a cluster without ${part}`,
      () => (imitateCluster(cluster), rmSync(join(cluster, part), { recursive: true })),
      new RegExp(`cluster, which lacks ${part}: restore`),
    ]),
    [
      'a cluster from a copy without empty folders',
      () => (imitateCluster(cluster), ['pg_notify', 'pg_twophase'].forEach((part) => rmdirSync(join(cluster, part)))),
      /cluster, which lacks pg_notify, pg_twophase: create the folders/,
    ],
    [
      'a named pipe in place of the file of the process',
      () => (imitateCluster(cluster), spawnSync('mkfifo', [join(cluster, 'postmaster.pid')])),
      /cluster\/postmaster\.pid, which is no file: remove it/,
    ],
    [
      'a part of a cluster',
      () => mkdirSync(cluster, { recursive: true }),
      /cluster, which lacks its file PG_VERSION \(ENOENT\)/,
    ],
    [
      'a cluster whose version is garbage',
      () => (mkdirSync(cluster, { recursive: true }), writeFileSync(join(cluster, 'PG_VERSION'), '')),
      /PG_VERSION does not hold the version of PostgreSQL/,
    ],
    [
      'a cluster of another version',
      () => (mkdirSync(cluster, { recursive: true }), writeFileSync(join(cluster, 'PG_VERSION'), '9\n')),
      /it was made by PostgreSQL 9, and PostgreSQL \d+ is installed/,
    ],
    [
      'a cluster with a folder in place of its version',
      () => mkdirSync(join(cluster, 'PG_VERSION'), { recursive: true }),
      /PG_VERSION is a folder, where a file must be/,
    ],
  ])('says as the start does that the embedded database is %s', async (_title, make, message) => {
    make();
    const { of } = await verdictsOf(BASE);
    const error: unknown = await startEmbeddedPostgres({ dataDir: join(folder, 'postgres') }).catch(
      (reason: unknown) => reason,
    );
    expect(of('postgresql')).toEqual([
      { check: 'postgresql', verdict: 'finding', message: expect.stringMatching(message) as string },
    ]);
    expect([describeStartError(error), isLasting(error)]).toEqual([of('postgresql')[0]!.message, true]);
  });

  it('distinguishes what could not be looked at', async () => {
    const { of } = await verdictsOf({ ...OWN, DATABASE_URL: 'postgresql://castellan@127.0.0.1:1/castellan' });
    expect(of('postgresql')).toMatchObject([
      { verdict: 'unknown', message: expect.stringContaining('ECONNREFUSED') as string },
    ]);
  });

  it('looks at an event store', async () => {
    const node = await startStandIn();
    const { of } = await verdictsOf({ ...BASE, EVENTSTORE_URL: node.connectionString });
    expect(of('event store')).toMatchObject([
      { verdict: 'fine', message: expect.stringContaining('tls=false') as string },
    ]);
    await node.stop();
  });

  it.runIf(findRedis())('looks at Redis', async () => {
    const redis = await startRedis();
    const { of } = await verdictsOf({ ...BASE, REDIS_URL: redis.url });
    expect(of('redis')).toMatchObject([{ verdict: 'fine' }]);
    await redis.stop();
  });
});

describe('the keys that castellan doctor compares with the database', () => {
  const given = { master: true, audit: true };
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.close());
  const look = (over: Partial<Config>) => keys({ ...app.config, ...over }, given)(app.services.database.owner, {});

  it('are fine if the service started with them', async () => {
    expect(await look({})).toEqual([{ verdict: 'fine', message: 'those of this database' }]);
  });

  it('are named if they are others, without their values', async () => {
    const found = await look({ masterKey: Buffer.alloc(32, 1), auditKey: Buffer.alloc(32, 2) });
    expect(found).toEqual([
      { verdict: 'finding', message: expect.stringContaining('MASTER_KEY is not the one') as string },
      { verdict: 'finding', message: expect.stringContaining('AUDIT_HMAC_KEY is not the key') as string },
    ]);
  });
});

describe('a database of an earlier version', () => {
  it.each([
    [['001_roles.sql', '011_lone_appends.sql'], /^this database lacks migration 002_event_store\.sql/],
    [[], /^nothing is missing$/],
  ])('is a finding if a start would refuse it: %j', async (done, message) => {
    const query = (text: string) =>
      Promise.resolve({
        rows: text.startsWith('select name') ? done.map((name) => ({ name })) : [{ exist: /kysely/.test(text) }],
      });
    const pool = { query } as unknown as Pool;
    const [found] = await completeness({ auditKey: Buffer.alloc(32, 1) })(pool, {});
    expect(found).toEqual({
      verdict: done.length > 0 ? 'finding' : 'fine',
      message: expect.stringMatching(message) as string,
    });
  });
});

describe('the licenses that castellan doctor looks at', () => {
  const DAY_MS = 86_400_000;
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.close());
  const look = () => licenses(app.services.database.owner, {});

  it('are fine without tenants', async () => {
    expect(await look()).toEqual([{ verdict: 'fine', message: 'valid for all 0 tenants, with free seats' }]);
  });

  it('are named by tenant when they end soon, have ended, or have no seat left', async () => {
    await app.newTenant({ name: 'Sound' });
    await app.newTenant({
      name: 'Ending',
      license: { expiresAt: new Date(Date.now() + 20 * DAY_MS + 60_000).toISOString() },
    });
    const full = await app.newTenant({ name: 'Full', license: { maxUsers: 1 } });
    const person = { email: 'only@full.example', displayName: 'Only One' };
    expect((await full.admin.post('/api/v1/admin/users', person)).status).toBe(201);
    await app.settled();
    expect((await look()).map(({ message }) => message)).toEqual([
      '1 of 3 tenants have a license that ends within 30 days: Ending',
      '1 of 3 tenants have no free seat: Full',
    ]);
  });
});
