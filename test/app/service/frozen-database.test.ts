import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { compose, type Application } from '../../../src/app/compose/compose.ts';
import { newLogger } from '../../../src/platform/observability/logger.ts';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../../src/platform/embedded/postgres.ts';
import { startApp, testConfig } from '../../dsl/app.ts';
import { freeze, thaw } from '../../dsl/frozen.ts';
import { scratchFolder } from '../../dsl/scratch.ts';

describe('while the database is frozen', () => {
  const dataDir = scratchFolder('frozen');
  let server: EmbeddedPostgres;
  let application: Application;
  let frozen = false;
  beforeAll(async () => {
    server = await startEmbeddedPostgres({ dataDir: `${dataDir}/db`, durable: false });
    const { host, port, user, password, database } = server.connection as {
      host: string;
      port: number;
      user: string;
      password?: string;
      database: string;
    };
    const databaseUrl = `postgresql://${user}:${encodeURIComponent(password ?? '')}@/${database}?host=${encodeURIComponent(host)}&port=${port}`;
    application = await compose(testConfig(dataDir, { databaseUrl, drainMs: 2_000, auditKey: randomBytes(32) }), {
      log: newLogger('silent'),
    });
    await vi.waitFor(async () => expect((await ask('/ready')).status).toBe(200), 20_000);
  }, 60_000);
  afterEach(() => {
    if (frozen) thaw(server.pid);
    frozen = false;
  });
  afterAll(async () => {
    await application.stop();
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const ask = async (path: string) => {
    const started = performance.now();
    const response = await fetch(application.addresses.http + path);
    const text = await response.text();
    return { status: response.status, text, took: performance.now() - started };
  };

  it('probes get a response within a second, in their own format; the process recovers with the database', async () => {
    freeze(server.pid);
    frozen = true;
    const asked = async () => Promise.all(['/live', '/health', '/ready', '/metrics'].map(ask));
    await expect.poll(async () => (await ask('/ready')).status, { timeout: 20_000 }).toBe(503);
    const answers = await asked();
    for (const { took } of answers) expect(took).toBeLessThan(1_000);
    expect(answers.map(({ status }) => status)).toEqual([200, 503, 503, 200]);
    expect(JSON.parse(answers[1]!.text)).toMatchObject({
      status: 'unhealthy',
      dependencies: { postgres: { status: 'unhealthy' } },
    });
    expect(JSON.parse(answers[2]!.text)).toEqual({ status: 'unhealthy', ready: false, lagging: [] });
    expect(answers[3]!.text).toContain('castellan_gauges_current 0');
    thaw(server.pid);
    frozen = false;
    await expect.poll(async () => (await ask('/ready')).status, { timeout: 20_000 }).toBe(200);
  }, 60_000);

  it('a process that receives a stop signal ends all the same', async () => {
    freeze(server.pid);
    frozen = true;
    void fetch(`${application.addresses.http}/api/v1/auth/tenant`).catch(() => undefined);
    await application.stop();
    await expect(fetch(`${application.addresses.http}/live`)).rejects.toThrow();
  }, 15_000);
});

describe('a process that receives a stop signal', () => {
  it('waits for a half-sent request for a limited time', async () => {
    const app = await startApp({ drainMs: 600 });
    const port = Number(new URL(app.url).port);
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(
      'POST /api/v1/auth/login HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"email"',
    );
    await once(socket, 'connect');
    await app.anonymous.get('/live');
    const ended = once(socket, 'close');
    await app.close();
    await ended;
  }, 15_000);
});
