import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { migrate } from '../../../src/platform/database/migrate.ts';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../../src/platform/embedded/postgres.ts';
import { defineJob } from '../../../src/platform/jobs/job.ts';
import { openJobs } from '../../../src/platform/jobs/open-jobs.ts';
import { migrateJobs } from '../../../src/platform/jobs/postgres/schema.ts';
import { scratchFolder } from '../../dsl/scratch.ts';

describe('jobs, when PostgreSQL is killed', () => {
  let dataDir: string;
  let server: EmbeddedPostgres;
  let killed: Promise<string>;
  const start = async () => {
    let tell!: (reason: string) => void;
    killed = new Promise((resolve) => (tell = resolve));
    server = await startEmbeddedPostgres({ dataDir, onExit: tell });
  };

  beforeAll(async () => {
    dataDir = scratchFolder('outage');
    await start();
    await migrate(server.connection);
    const owner = new pg.Pool(server.connection);
    await migrateJobs(owner);
    await owner.end();
  });
  afterAll(async () => {
    await server.stop();
    rmSync(dataDir, { recursive: true });
  });

  const ran: string[] = [];
  let hold: Promise<void> | undefined;
  const greet = defineJob({
    name: 'greet',
    data: z.object({ who: z.string() }),
    attempts: 1,
    backoff: [10],
    handle: async ({ who }) => {
      await hold;
      ran.push(who);
    },
  });
  const open = () => {
    return openJobs({
      config: server.connection,
      jobs: [greet],
      log: pino({ level: 'silent' }),
      lockMs: 1_000,
      stalledCheckMs: 300,
    });
  };
  const until = async (condition: () => boolean) => {
    while (!condition()) await sleep(10);
  };
  const killServer = async () => {
    process.kill(server.pid, 'SIGKILL');
    await killed;
  };

  it('continue after its restart, both running and waiting ones', async () => {
    const jobs = open();
    await jobs.start();
    await jobs.enqueue(greet, { who: 'before' });
    await until(() => ran.includes('before'));
    let release!: () => void;
    hold = new Promise((resolve) => (release = resolve));
    await jobs.enqueue(greet, { who: 'under way' });
    await jobs.enqueue(greet, { who: 'waiting' }, { delayMs: 200 });
    await sleep(50);
    await killServer();
    await expect(jobs.enqueue(greet, { who: 'lost' })).rejects.toThrow();
    release();
    await start();
    await jobs.enqueue(greet, { who: 'after' });
    await until(() => ['under way', 'waiting', 'after'].every((who) => ran.includes(who)));
    await jobs.close();
    expect(ran).not.toContain('lost');
  });

  it('can be stopped and closed while it is down', async () => {
    hold = undefined;
    const jobs = open();
    await jobs.start();
    await jobs.enqueue(greet, { who: 'last' });
    await until(() => ran.includes('last'));
    await killServer();
    await jobs.close();
    await start();
  });
});
