import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Keyring } from '../../../src/platform/vault/keyring.ts';
import { startApp, type TestApp } from '../../dsl/app.ts';
import { scratchFolder } from '../../dsl/scratch.ts';
import { mountFault, SmallDisk } from '../../faults/harness/small-disk.ts';

describe('/health and /ready', () => {
  let app: TestApp;
  afterEach(() => app.close());

  /**
   * Probes share one check a second, and a slow dependency degrades until the next: on a busy machine one check proves
   * nothing.
   */
  const says = (path: string, expected: object) =>
    expect.poll(() => app.anonymous.get(path), { timeout: 30_000 }).toMatchObject(expected);

  it('name every dependency', async () => {
    app = await startApp();
    // A dependency that responds late degrades for as long as that lasts.
    const { status, body } = await vi.waitFor(async () => {
      const answer = await app.anonymous.get('/health');
      expect(answer.body).toMatchObject({ status: 'healthy' });
      return answer;
    }, 10_000);
    expect(status).toBe(200);
    expect(Object.keys(body.dependencies).toSorted()).toEqual([
      'audit_seals',
      'disk',
      'event_log',
      'eventstore',
      'master_key',
      'objects',
      'postgres',
      'projections',
      'redis',
    ]);
    for (const [name, dependency] of Object.entries(body.dependencies))
      expect(dependency).toEqual({
        name,
        status: 'healthy',
        latency_ms: expect.any(Number),
        last_check: expect.any(String),
      });
    await app.settled();
    await says('/ready', { status: 200, body: { ready: true } });
  });

  it('report degraded but ready while the object storage is unreachable', async () => {
    app = await startApp({
      s3: {
        endpoint: 'http://127.0.0.1:9',
        region: 'us-east-1',
        bucket: 'castellan',
        accessKeyId: 'id',
        secretAccessKey: 'secret',
        isTrusted: true,
      },
    });
    await says('/health', {
      status: 200,
      body: {
        status: 'degraded',
        dependencies: { objects: { status: 'degraded', message: 'the object storage cannot be used' } },
      },
    });
    await app.settled();
    await says('/ready', { status: 200, body: { ready: true } });
  });

  it('report degraded but ready while objects cannot be stored in DATA_DIR', async () => {
    app = await startApp();
    await says('/health', { body: { dependencies: { objects: { status: 'healthy' } } } });
    await app.close();
    const dataDir = scratchFolder('health-objects');
    mkdirSync(dataDir, { recursive: true });
    writeFileSync(join(dataDir, 'objects'), '');
    app = await startApp({ dataDir });
    await says('/health', {
      body: { dependencies: { objects: { status: 'degraded', message: 'the object storage cannot be used' } } },
    });
    rmSync(dataDir, { recursive: true });
  });

  it.skipIf(mountFault)(`report degraded but ready while the disk of DATA_DIR is full${mountFault}`, async () => {
    const disk = SmallDisk.mount(64);
    app = await startApp({ dataDir: disk.folder });
    await says('/health', { body: { dependencies: { disk: { status: 'healthy' } } } });
    disk.fill();
    await says('/health', {
      status: 200,
      body: {
        status: 'degraded',
        dependencies: { disk: { status: 'degraded', message: 'the disk of DATA_DIR is almost full' } },
      },
    });
    await app.settled();
    await says('/ready', { status: 200, body: { ready: true } });
    disk.free();
    await says('/health', { body: { dependencies: { disk: { status: 'healthy' } } } });
    disk.unmount();
  });

  it("report not ready if the process's master key was retired", async () => {
    app = await startApp();
    await app.services.database.owner.query('insert into retired_master_keys (fingerprint) values ($1)', [
      new Keyring(app.config.masterKey).fingerprint,
    ]);
    await says('/health', {
      status: 503,
      body: { status: 'unhealthy', dependencies: { master_key: { status: 'unhealthy' } } },
    });
    await says('/ready', { status: 503, body: { ready: false } });
  });
});

describe('/metrics with METRICS_TOKEN', () => {
  it('OP-254 refuses every other caller, as its description says', async () => {
    const app = await startApp({ metricsToken: 'the-metrics-token-of-this-service' });
    for (const stranger of [app.anonymous, app.as('another-token')]) {
      const { status, body, headers } = await stranger.get('/metrics');
      expect([status, body.code]).toEqual([401, 'authentication_required']);
      expect(headers.get('www-authenticate')).toBe('Bearer realm="castellan"');
    }
    expect((await app.as('the-metrics-token-of-this-service').get('/metrics')).status).toBe(200);
    await app.close();
  });
});
