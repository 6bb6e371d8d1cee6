import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { examination } from '../../../src/app/cli/doctor.ts';
import { issueServerCertificate } from '../../../src/platform/pki/server-certificate.ts';
import { startStandIn } from '../../fixtures/eventstoredb/stand-in.ts';
import { findRedis, startRedis } from '../../dsl/redis.ts';
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
    for (const check of ['settings', 'ports', 'tls certificate', 'redis'])
      expect(of(check)).toMatchObject([{ verdict: 'finding' }]);
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
