import { Redis } from 'ioredis';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { enqueue } from '../../../src/platform/kernel/job.ts';
import { openJobs } from '../../../src/platform/jobs/open-jobs.ts';
import { PersistentSchedules } from '../../../src/platform/jobs/persistent-schedules.ts';
import { defineJob } from '../../../src/platform/jobs/job.ts';
import { freePort } from '../../dsl/free-port.ts';
import { PASSWORD, startApp } from '../../dsl/app.ts';
import { enrolledDevice } from '../../dsl/enrolled-device.ts';
import { freshDatabase } from '../../dsl/database.ts';
import { stallingProxy } from '../../dsl/stalling-proxy.ts';
import { findRedis, startRedis } from '../../dsl/redis.ts';
import { z } from 'zod';

/** On a busy machine a check of all dependencies comes late. */
const PATIENTLY = { timeout: 30_000 };

describe.runIf(findRedis())('Redis', () => {
  it('does not block requests while frozen: sessions, policies and sign-in work, and the process stays ready', async () => {
    const redis = await startRedis();
    const app = await startApp({ redisUrl: redis.url, drainMs: 2_000 });
    const acme = await app.newTenant();
    const device = await enrolledDevice(app, acme);
    await app.settled();
    redis.freeze();
    // One request detects it; those behind it do not try.
    for (let n = 0; n < 20; n += 1) expect((await acme.admin.get('/api/v1/admin/me')).status).toBe(200);
    expect((await device.client.get('/api/v1/ext/policies')).status).toBe(200);
    expect(
      (
        await app.anonymous.post('/api/v1/auth/login', {
          email: acme.email,
          password: PASSWORD,
          tenantId: acme.tenantId,
        })
      ).status,
    ).toBe(200);
    await expect
      .poll(() => app.anonymous.get('/health'), PATIENTLY)
      .toMatchObject({ status: 200, body: { status: 'degraded', dependencies: { redis: { status: 'unhealthy' } } } });
    await expect
      .poll(() => app.anonymous.get('/ready'), PATIENTLY)
      .toMatchObject({ status: 200, body: { ready: true } });
    redis.thaw();
    await expect.poll(async () => (await app.anonymous.get('/health')).body.status, PATIENTLY).toBe('healthy');
    device.client.close();
    await app.close();
    await redis.stop();
  });

  it('is reached on new connections where the open ones have become silent', async () => {
    const redis = await startRedis();
    const { hostname: host, port } = new URL(redis.url);
    const proxy = await stallingProxy({ host, port: Number(port) });
    const app = await startApp({ redisUrl: `redis://127.0.0.1:${proxy.port}`, drainMs: 2_000 });
    const health = async () => (await app.anonymous.get('/health')).body.dependencies.redis.status as string;
    await expect.poll(health, PATIENTLY).toBe('healthy');
    proxy.stall();
    await expect.poll(health, PATIENTLY).toBe('unhealthy');
    await expect.poll(health, PATIENTLY).toBe('healthy');
    await app.close();
    await proxy.close();
    await redis.stop();
  });

  it('that takes no more writes is no healthy one', async () => {
    const redis = await startRedis();
    const app = await startApp({ redisUrl: redis.url, drainMs: 2_000 });
    const admin = new Redis(redis.url);
    const health = async () => (await app.anonymous.get('/health')).body.dependencies.redis.status as string;
    await expect.poll(health, PATIENTLY).toBe('healthy');
    await admin.config('SET', 'maxmemory', '1');
    await expect.poll(health, PATIENTLY).toBe('unhealthy');
    expect((await app.anonymous.get('/ready')).status).toBe(200);
    await admin.config('SET', 'maxmemory', '0');
    await expect.poll(health, PATIENTLY).toBe('healthy');
    admin.disconnect();
    await app.close();
    await redis.stop();
  });

  it('does not change budgets permanently while frozen: this process counts meanwhile', async () => {
    const redis = await startRedis();
    const app = await startApp({ redisUrl: redis.url, rateBudgets: { admin: 3 }, drainMs: 2_000 });
    redis.freeze();
    const statuses: number[] = [];
    for (let n = 0; n < 6; n += 1) statuses.push((await app.anonymous.get('/api/v1/admin/alerts')).status);
    expect(statuses).toEqual([401, 401, 401, 429, 429, 429]);
    redis.thaw();
    await app.close();
    await redis.stop();
  });

  it('is not needed when the process starts', async () => {
    const port = await freePort();
    const app = await startApp({ redisUrl: `redis://127.0.0.1:${port}`, drainMs: 2_000 });
    const acme = await app.newTenant();
    expect((await acme.admin.get('/api/v1/admin/me')).status).toBe(200);
    await app.settled();
    await expect
      .poll(() => app.anonymous.get('/ready'), PATIENTLY)
      .toMatchObject({ status: 200, body: { status: 'degraded', ready: true } });
    const redis = await startRedis(port);
    await expect.poll(async () => (await app.services.jobs.schedules()).length, PATIENTLY).toBeGreaterThan(3);
    await expect.poll(async () => (await app.anonymous.get('/health')).body.status, PATIENTLY).toBe('healthy');
    await app.close();
    await redis.stop();
  });

  it('gets the schedules again after it lost its data', async () => {
    const redis = await startRedis();
    const fresh = await freshDatabase();
    const log = pino({ level: 'silent' });
    const greet = defineJob({
      name: 'greet',
      data: z.object({}),
      attempts: 1,
      backoff: [],
      handle: async () => undefined,
    });
    const jobs = openJobs({ config: fresh.config, redisUrl: redis.url, jobs: [greet], log });
    const standing = new PersistentSchedules(
      jobs,
      { 'maintenance/greet': { run: enqueue(greet, {}), recurrence: { everyMs: 3_600_000 } } },
      log,
      50,
    );
    standing.start();
    const keys = () => jobs.schedules();
    await expect.poll(keys).toEqual(['maintenance/greet']);
    const other = new Redis(redis.url);
    await other.flushall();
    await expect.poll(keys).toEqual(['maintenance/greet']);
    other.disconnect();
    standing.stop();
    await jobs.close();
    await fresh.drop();
    await redis.stop();
  });
});
