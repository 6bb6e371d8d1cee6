import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineJob } from '../../../src/platform/jobs/job.ts';
import { enqueue } from '../../../src/platform/kernel/job.ts';
import { openJobs } from '../../../src/platform/jobs/open-jobs.ts';
import { freshDatabase } from '../../dsl/database.ts';
import { findRedis, startRedis } from '../../dsl/redis.ts';

describe.runIf(findRedis())('jobs, while Redis is down', () => {
  it('wait in the database, and run when it is back', async () => {
    const ran: string[] = [];
    const greet = defineJob({
      name: 'greet',
      data: z.object({ who: z.string() }),
      attempts: 1,
      backoff: [],
      handle: async ({ who }) => void ran.push(who),
    });
    const until = async (condition: () => boolean | Promise<boolean>) => {
      while (!(await condition())) await sleep(10);
    };
    const { config, drop } = await freshDatabase();
    const pool = new pg.Pool(config);
    const first = await startRedis();
    const jobs = openJobs({ config, redisUrl: first.url, jobs: [greet], log: pino({ level: 'silent' }) });
    await jobs.start();
    await jobs.enqueue(greet, { who: 'before' });
    await until(() => ran.includes('before'));
    await first.stop();

    await jobs.enqueue(greet, { who: 'alone' });
    const client = await pool.connect();
    await client.query('begin');
    await jobs.enqueueWithin(client, enqueue(greet, { who: 'meanwhile' }));
    await client.query('commit');
    client.release();

    const second = await startRedis(first.port);
    await until(() => ran.includes('alone') && ran.includes('meanwhile'));
    const outbox = async () =>
      (await pool.query('select count(*)::int as waiting from jobs.outbox')).rows[0].waiting as number;
    await until(async () => (await outbox()) === 0);
    await jobs.enqueue(greet, { who: 'after' });
    await until(() => ran.includes('after'));
    expect(ran.toSorted()).toEqual(['after', 'alone', 'before', 'meanwhile']);
    await jobs.close();
    await second.stop();
    await pool.end();
    await drop();
  });

  it('stop within seconds, whether Redis went or never was there', async () => {
    const { config, drop } = await freshDatabase();
    const redis = await startRedis();
    const nothing = defineJob({
      name: 'nothing',
      data: z.object({}),
      attempts: 1,
      backoff: [],
      handle: async () => {},
    });
    const open = (redisUrl: string) => openJobs({ config, redisUrl, jobs: [nothing], log: pino({ level: 'silent' }) });
    const all = [open(redis.url), open('redis://127.0.0.1:1')];
    for (const jobs of all) await jobs.start();
    await redis.stop();
    for (const jobs of all) await jobs.close();
    await drop();
  });
});
