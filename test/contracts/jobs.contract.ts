import { once } from 'node:events';
import { randomUUID } from 'node:crypto';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { asTenantId } from '../../src/kernel/ids.ts';
import { defineJob, JobFailed, type AnyJob, type JobContext, type JobDefinition } from '../../src/jobs/job.ts';
import type { Jobs } from '../../src/jobs/jobs.ts';
import { openJobs } from '../../src/jobs/open-jobs.ts';

export interface JobsServer {
  readonly config: pg.ClientConfig;
  readonly redisUrl?: string;
  stop(): Promise<void>;
}

/** Locks and checks so short that a test can wait for a dead worker to be noticed. */
const SETTINGS = { lockMs: 1_000, stalledCheckMs: 300 };
const log = pino({ level: 'silent' });

const until = async (condition: () => boolean | Promise<boolean>) => {
  while (!(await condition())) await sleep(10);
};

/** What every place for jobs must do. */
export function jobsContract(place: string, startServer: () => Promise<JobsServer>): void {
  describe(`jobs on ${place}`, () => {
    let server: JobsServer;
    let pool: pg.Pool;
    let lane: string;
    const opened: Jobs[] = [];
    const ran: { data: unknown; context: JobContext }[] = [];

    beforeAll(async () => {
      server = await startServer();
      pool = new pg.Pool({ ...server.config, options: '-c role=castellan_projector' });
    });
    afterAll(async () => {
      await pool.end();
      await server.stop();
    });
    beforeEach(() => {
      lane = `lane-${randomUUID().slice(0, 8)}`; // no test meets the jobs of another
      ran.length = 0;
    });
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((jobs) => jobs.close()));
    });

    const open = (...definitions: AnyJob[]): Jobs => {
      const { config, redisUrl } = server;
      const jobs = openJobs({ config, redisUrl, jobs: definitions, log, ...SETTINGS });
      opened.push(jobs);
      return jobs;
    };

    const declare = (overrides: Partial<JobDefinition> = {}) =>
      defineJob({
        name: 'greet',
        data: z.object({ who: z.string() }),
        attempts: 1,
        backoff: [10],
        lane,
        handle: async (data, context) => void ran.push({ data, context }),
        ...overrides,
      });

    const whoRan = () => ran.map(({ data }) => (data as { who: string }).who);

    it('run once, with their data, tenant and correlation', async () => {
      const jobs = open(declare());
      const tenantId = asTenantId(randomUUID());
      await jobs.start();
      await jobs.enqueue('greet', { who: 'Ada' }, { id: 'one', tenantId, correlationId: 'request-7' });
      await until(() => ran.length === 1);
      expect(ran[0]!.data).toEqual({ who: 'Ada' });
      expect(ran[0]!.context).toMatchObject({ id: 'greet/one', attempt: 1, isLastAttempt: true, tenantId, correlationId: 'request-7' });
      await until(async () => (await jobs.counts()).active === 0);
      expect(await jobs.counts()).toEqual({ waiting: 0, active: 0, delayed: 0, failed: 0 });
      expect(ran).toHaveLength(1);
    });

    it('are run by one worker each, however many there are', async () => {
      const workers = [open(declare()), open(declare()), open(declare())];
      await Promise.all(workers.map((jobs) => jobs.start()));
      const names = Array.from({ length: 60 }, (_, index) => `guest ${index}`);
      await Promise.all(names.map((who, index) => workers[index % 3]!.enqueue('greet', { who })));
      await until(() => ran.length >= names.length);
      expect(whoRan().sort()).toEqual(names.sort());
    });

    it('wait in the queue until somebody works', async () => {
      await open(declare()).enqueue('greet', { who: 'Ada' });
      const jobs = open(declare());
      expect(await jobs.counts()).toMatchObject({ waiting: 1 });
      await jobs.start();
      await until(() => ran.length === 1);
    });

    it('are tried again, and kept when they have failed for good, without the words of the error', async () => {
      const attempts: number[] = [];
      const fail = async (_: unknown, { attempt, isLastAttempt }: JobContext) => {
        attempts.push(attempt);
        expect(isLastAttempt).toBe(attempt === 3);
        throw Object.assign(new Error('password hunter2 was refused'), { code: 'EAUTH' });
      };
      const jobs = open(declare({ attempts: 3, backoff: [20, 40], handle: fail }));
      const tenantId = asTenantId(randomUUID());
      await jobs.start();
      await jobs.enqueue('greet', { who: 'Ada' }, { id: 'bad', tenantId });
      await until(async () => (await jobs.counts()).failed === 1);
      expect(attempts).toEqual([1, 2, 3]);
      const [failed] = await jobs.failed(10);
      expect(failed).toMatchObject({ id: 'greet/bad', name: 'greet', tenantId, correlationId: 'greet/bad', attempts: 3 });
      expect(failed!.reason).toMatch(/^Error EAUTH/);
      expect(JSON.stringify(failed)).not.toContain('hunter2');
    });

    it('succeed at a later attempt', async () => {
      const jobs = open(declare({
        attempts: 3,
        handle: async (data, context) => {
          if (context.attempt < 3) throw new Error('not yet');
          ran.push({ data, context });
        },
      }));
      await jobs.start();
      await jobs.enqueue('greet', { who: 'Ada' });
      await until(() => ran.length === 1);
      await until(async () => (await jobs.counts()).active === 0);
      expect(await jobs.counts()).toMatchObject({ failed: 0, delayed: 0 });
    });

    it('are not tried again when another attempt would not help, and say why', async () => {
      let attempts = 0;
      const jobs = open(declare({
        attempts: 5,
        handle: async () => {
          attempts += 1;
          throw new JobFailed('the address does not exist', { final: true });
        },
      }));
      await jobs.start();
      await jobs.enqueue('greet', { who: 'Ada' });
      await until(async () => (await jobs.counts()).failed === 1);
      expect(attempts).toBe(1);
      expect((await jobs.failed(1))[0]!.reason).toBe('the address does not exist');
    });

    it('can be put back to work after they have failed', async () => {
      let broken = true;
      const jobs = open(declare({
        handle: async (data, context) => {
          if (broken) throw new JobFailed('the server is away');
          ran.push({ data, context });
        },
      }));
      await jobs.start();
      await jobs.enqueue('greet', { who: 'Ada' }, { id: 'again' });
      await until(async () => (await jobs.counts()).failed === 1);
      broken = false;
      expect(await jobs.retry('greet/again')).toBe(true);
      await until(() => ran.length === 1);
      expect(ran[0]!.context.attempt).toBe(1);
      expect(await jobs.retry('greet/none')).toBe(false);
    });

    it('fail when they take too long, and are told to stop', async () => {
      let told = false;
      const jobs = open(declare({
        timeoutMs: 50,
        handle: (_, { signal }) => new Promise(() => signal.addEventListener('abort', () => (told = true))),
      }));
      await jobs.start();
      await jobs.enqueue('greet', { who: 'Ada' });
      await until(async () => (await jobs.counts()).failed === 1);
      expect(told).toBe(true);
      expect((await jobs.failed(1))[0]!.reason).toBe('took longer than 50 ms');
    });

    it('wait for their time', async () => {
      const jobs = open(declare());
      await jobs.enqueue('greet', { who: 'late' }, { delayMs: 400 });
      await jobs.enqueue('greet', { who: 'early' });
      expect(await jobs.counts()).toMatchObject({ waiting: 1, delayed: 1 });
      await jobs.start();
      await until(() => ran.length === 2);
      expect(whoRan()).toEqual(['early', 'late']);
    });

    it('are taken once under one id, before and after they have run', async () => {
      const jobs = open(declare());
      await Promise.all(Array.from({ length: 5 }, () => jobs.enqueue('greet', { who: 'Ada' }, { id: 'a:b/ü' })));
      await jobs.start();
      await until(() => ran.length === 1);
      await jobs.enqueue('greet', { who: 'Ada' }, { id: 'a:b/ü' });
      await jobs.enqueue('greet', { who: 'last' });
      await until(() => whoRan().includes('last'));
      expect(whoRan()).toEqual(['Ada', 'last']);
    });

    it('exist when the transaction that asked for them commits, and only then', async () => {
      const jobs = open(declare());
      await jobs.start();
      for (const [who, end] of [['nobody', 'rollback'], ['Ada', 'commit']] as const) {
        const client = await pool.connect();
        await client.query('begin');
        await jobs.enqueueWithin(client, 'greet', { who }, { id: 'same' });
        await sleep(300);
        expect(whoRan()).toEqual([]);
        await client.query(end);
        client.release();
      }
      await until(() => ran.length === 1);
      await jobs.enqueue('greet', { who: 'last' });
      await until(() => ran.length === 2);
      expect(whoRan()).toEqual(['Ada', 'last']);
    });

    it('asked for in a transaction keep id, delay and attempts', async () => {
      const jobs = open(declare({ attempts: 4 }));
      await jobs.start();
      const client = await pool.connect();
      await client.query('begin');
      await jobs.enqueueWithin(client, 'greet', { who: 'late' }, { id: 'x', delayMs: 500, correlationId: 'c' });
      await jobs.enqueueWithin(client, 'greet', { who: 'late' }, { id: 'x', delayMs: 500, correlationId: 'c' });
      await jobs.enqueueWithin(client, 'greet', { who: 'early' });
      await client.query('commit');
      client.release();
      await until(() => ran.length === 2);
      expect(whoRan()).toEqual(['early', 'late']);
      expect(ran[1]!.context).toMatchObject({ id: 'greet/x', correlationId: 'c', attempt: 1, isLastAttempt: false });
    });

    it('are run again when the process that ran them is killed', async () => {
      const jobs = open(declare());
      await jobs.enqueue('greet', { who: 'Ada' });
      const child = spawn(
        process.execPath,
        ['--import', import.meta.resolve('tsx'), fileURLToPath(new URL('./stuck-worker.ts', import.meta.url)), JSON.stringify({ ...server, lane, ...SETTINGS })],
        { stdio: ['ignore', 'pipe', 'inherit'] },
      );
      const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
      expect(line).toBe('running greet for Ada');
      child.kill('SIGKILL');
      await once(child, 'exit');
      await jobs.start();
      await until(() => ran.length === 1);
      expect(whoRan()).toEqual(['Ada']);
    });

    it('that run are finished when the process is to stop, and no more are begun', async () => {
      let finish!: () => void;
      const finished = new Promise<void>((resolve) => (finish = resolve));
      let begun = 0;
      const handle = async (data: unknown, context: JobContext) => {
        begun += 1;
        await finished;
        ran.push({ data, context });
      };
      const jobs = open(declare({ handle }));
      await jobs.start();
      await jobs.enqueue('greet', { who: 'Ada' });
      await until(() => begun === 1);
      const stopped = jobs.stop();
      await jobs.enqueue('greet', { who: 'next' });
      finish();
      await stopped;
      expect(whoRan()).toEqual(['Ada']);
      expect(await jobs.counts()).toEqual({ waiting: 1, active: 0, delayed: 0, failed: 0 });
    });

    it('that do not finish in time are given back, and the attempt does not count', async () => {
      let signal: AbortSignal | undefined;
      const stuck = open(declare({ handle: (_, context) => ((signal = context.signal), new Promise(() => undefined)) }));
      await stuck.start();
      await stuck.enqueue('greet', { who: 'Ada' });
      await until(() => signal !== undefined);
      await stuck.stop(50);
      expect(signal!.aborted).toBe(true);
      const jobs = open(declare());
      expect(await jobs.counts()).toEqual({ waiting: 1, active: 0, delayed: 0, failed: 0 });
      await jobs.start();
      await until(() => ran.length === 1);
      expect(ran[0]!.context.attempt).toBe(1);
    });

    it('come again on schedule, once in the whole house, until the schedule ends', async () => {
      const tenantId = asTenantId(randomUUID());
      const schedule = { job: 'greet', recurrence: { everyMs: 200 }, data: { who: 'Ada' }, tenantId };
      const houses = [open(declare()), open(declare())];
      await Promise.all(houses.map((jobs) => jobs.schedule('tests/greet', schedule)));
      await Promise.all(houses.map((jobs) => jobs.start()));
      await until(() => ran.length >= 3);
      expect(await houses[0]!.schedules()).toEqual(['tests/greet']);
      const [first, second] = ran;
      expect(first!.context.tenantId).toBe(tenantId);
      expect(first!.context.id).not.toBe(second!.context.id);
      expect(new Set(ran.map(({ context }) => context.id)).size).toBe(ran.length);
      await houses[1]!.unschedule('tests/greet');
      expect(await houses[0]!.schedules()).toEqual([]);
      await until(async () => (await houses[0]!.counts()).active === 0);
      const before = ran.length;
      await sleep(600);
      expect(ran.length).toBe(before);
    });

    it('come at the times of a cron expression in its time zone', async () => {
      const jobs = open(declare());
      await jobs.schedule('nightly', { job: 'greet', recurrence: { cron: '0 3 * * *', timeZone: 'Europe/Paris' }, data: { who: 'Ada' } });
      await jobs.schedule('nightly', { job: 'greet', recurrence: { cron: '0 4 * * *' }, data: { who: 'Ada' } });
      expect(await jobs.schedules()).toEqual(['nightly']);
      expect(await jobs.counts()).toMatchObject({ delayed: 1 });
      await jobs.unschedule('nightly');
      expect(await jobs.counts()).toMatchObject({ delayed: 0 });
    });

    it('are refused when nobody knows them or their data does not fit', async () => {
      const jobs = open(declare());
      await expect(jobs.enqueue('gret', { who: 'Ada' })).rejects.toThrow('there is no job gret');
      await expect(jobs.enqueue('greet', { who: 7 })).rejects.toThrow('job greet: its data does not fit: who invalid_type');
      await expect(jobs.enqueue('greet', { who: 'x'.repeat(70_000) })).rejects.toThrow('job greet: its data is too large');
      expect(await jobs.counts()).toEqual({ waiting: 0, active: 0, delayed: 0, failed: 0 });
    });

    it('whose data no longer fits fail for good, without telling it', async () => {
      await open(declare({ data: z.object({ secret: z.string() }) })).enqueue('greet', { secret: 'hunter2' });
      const jobs = open(declare({ attempts: 9 }));
      await jobs.start();
      await until(async () => (await jobs.counts()).failed === 1);
      expect((await jobs.failed(1))[0]!.reason).toBe('its data does not fit: who invalid_type');
    });
  });
}
