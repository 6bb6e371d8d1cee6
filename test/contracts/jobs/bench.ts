import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { z } from 'zod';
import {
  declareJob,
  defineJob,
  type AnyJob,
  type JobContext,
  type JobDefinition,
} from '../../../src/platform/jobs/job.ts';
import type { Jobs } from '../../../src/platform/jobs/jobs.ts';
import { openJobs } from '../../../src/platform/jobs/open-jobs.ts';

export interface JobsServer {
  readonly config: pg.ClientConfig;
  readonly redisUrl?: string;
  stop(): Promise<void>;
}

/** Locks and checks so short that a test can wait until a dead worker is detected. */
export const SETTINGS = { lockMs: 1_000, stalledCheckMs: 300 };

export const until = async (condition: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await condition())) await sleep(10);
};

/** The job of these tests, as its producers know it. */
export const greet = declareJob({ name: 'greet', data: z.object({ who: z.string() }), attempts: 1, backoff: [10] });

/** What the tests of one storage share: its server, and a job that records who was greeted. */
export interface JobsBench {
  readonly server: JobsServer;
  readonly pool: pg.Pool;
  readonly lane: string;
  readonly ran: { data: unknown; context: JobContext }[];
  whoRan(): string[];
  /** The equivalent of another process. */
  open(...definitions: AnyJob[]): Jobs;
  declare(overrides?: Partial<JobDefinition>): JobDefinition;
}

export function jobsBench(startServer: () => Promise<JobsServer>): JobsBench {
  const log = pino({ level: 'silent' });
  const opened: Jobs[] = [];
  const ran: JobsBench['ran'] = [];
  let server: JobsServer;
  let pool: pg.Pool;
  let lane: string;

  beforeAll(async () => {
    server = await startServer();
    pool = new pg.Pool({ ...server.config, options: '-c role=castellan_projector' });
  });
  afterAll(async () => {
    await pool.end();
    await server.stop();
  });
  beforeEach(() => {
    lane = `lane-${randomUUID().slice(0, 8)}`; // Keeps the jobs of tests apart.
    ran.length = 0;
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((jobs) => jobs.close()));
  });

  return {
    get server() {
      return server;
    },
    get pool() {
      return pool;
    },
    get lane() {
      return lane;
    },
    ran,
    whoRan: () => ran.map(({ data }) => (data as { who: string }).who),
    open: (...definitions) => {
      const { config, redisUrl } = server;
      const jobs = openJobs({ config, redisUrl, jobs: definitions, log, ...SETTINGS });
      opened.push(jobs);
      return jobs;
    },
    declare: (overrides = {}) =>
      defineJob({
        ...greet,
        lane,
        handle: async (data, context) => void ran.push({ data, context }),
        ...overrides,
      }) as JobDefinition,
  };
}
