import { randomBytes, randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { compose, type Application } from '../../../src/app/compose/compose.ts';
import { newLogger } from '../../../src/platform/observability/logger.ts';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../../src/platform/embedded/postgres.ts';
import { appOf, startApp, testConfig } from '../../dsl/app.ts';
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

  it('probes get a response without waiting for it, in their own format; the process recovers with the database', async () => {
    freeze(server.pid);
    frozen = true;
    const asked = async () => Promise.all(['/live', '/health', '/ready', '/metrics'].map(ask));
    await expect.poll(async () => (await ask('/ready')).status, { timeout: 20_000 }).toBe(503);
    const answers = await asked();
    // The limit of a statement is five seconds. Beside a probe that asks nothing of the database: a busy machine delays both.
    for (const { took } of answers) expect(took - answers[0]!.took).toBeLessThan(2_000);
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

  it('what was sent to it meanwhile does nothing later: its sender was told so', async () => {
    const app = appOf(application, () => Promise.resolve());
    const { oneTimeTokens, database } = app.services;
    const { tenantId, admin } = await app.newTenant();
    const issue = () => oneTimeTokens.issue('temp', { tenantId, subjectId: randomUUID(), payload: {} }, 120);
    const spend = (token: string) => oneTimeTokens.spend('temp', token);
    const tokens = await Promise.all(Array.from({ length: 12 }, issue));
    // Connections are open, and the server's clock is known.
    await Promise.all((await Promise.all(Array.from({ length: 8 }, issue))).map(spend));
    freeze(server.pid);
    frozen = true;
    const spent = Promise.allSettled(tokens.map(spend));
    const created = admin.post('/api/v1/admin/groups', { name: 'Ghosts' });
    expect(new Set((await spent).map(({ status }) => status))).toEqual(new Set(['rejected']));
    expect((await created).status).toBe(503);
    thaw(server.pid);
    frozen = false;
    await expect.poll(async () => (await ask('/ready')).status, { timeout: 20_000 }).toBe(200);
    // What waited at the server is executed by now, and nothing has come of it.
    for (const token of tokens) expect(await oneTimeTokens.spent('temp', token)).toBeUndefined();
    const { rows } = await database.owner.query('select 1 from events where type = $1', ['GroupCreated']);
    expect(rows).toEqual([]);
    for (const token of tokens) expect(await spend(token)).toBeDefined();
  }, 90_000);

  it('what a request has given up does not happen later, wherever it stood still', async () => {
    const app = appOf(application, () => Promise.resolve());
    const { admin } = await app.newTenant();
    await admin.get('/api/v1/admin/users');
    const create = (n: number) =>
      admin.post('/api/v1/admin/users', { email: `late${n}@a.example`, displayName: 'Late' });
    const names = Array.from({ length: 8 }, (_, n) => n);
    // Some are under way, and read the log; others come right after.
    const early = Promise.all(names.slice(0, 4).map(create));
    freeze(server.pid);
    frozen = true;
    const late = Promise.all(names.slice(4).map(create));
    const statuses = [...(await early), ...(await late)].map(({ status }) => status);
    // The reads that they began before end now, and find that nobody waits any more.
    thaw(server.pid);
    frozen = false;
    await expect.poll(async () => (await ask('/ready')).status, { timeout: 20_000 }).toBe(200);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    const again = await Promise.all(names.map(create));
    const refused = names.filter((n) => statuses[n] === 503);
    expect(refused.length).toBeGreaterThanOrEqual(4);
    expect(refused.map((n) => again[n]!.status)).toEqual(refused.map(() => 201));
  }, 90_000);

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
    socket.resume();
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
