import type { Logger } from 'pino';
import type { DatabaseConfig } from '../database/logins.ts';
import { BullMqJobs, type WorkSettings } from './bullmq-jobs.ts';
import { JobCatalogue } from './catalogue.ts';
import type { AnyJob } from './job.ts';
import type { Jobs } from './jobs.ts';
import { PostgresJobBackend } from './postgres/postgres-backend.ts';
import { RedisJobBackend } from './redis/redis-backend.ts';

export interface OpenJobsOptions extends Partial<WorkSettings> {
  readonly config: DatabaseConfig;
  /** Keeps the jobs in Redis; the database then holds only those of a transaction, until they are carried over. */
  readonly redisUrl?: string | undefined;
  /** The most to PostgreSQL, where the jobs are in it. Default: what a process needs that works. */
  readonly connections?: number;
  readonly jobs: readonly AnyJob[];
  readonly log: Logger;
}

/** The database must have been prepared by `migrateJobs`. */
export function openJobs({ config, redisUrl, connections, jobs, log, ...settings }: OpenJobsOptions): Jobs {
  const catalogue = new JobCatalogue(jobs);
  const backend = redisUrl
    ? new RedisJobBackend(redisUrl, config, log)
    : new PostgresJobBackend(config, connections ?? catalogue.lanes.length + 4);
  return new BullMqJobs(
    backend,
    catalogue,
    { concurrency: {}, lockMs: 20_000, stalledCheckMs: 10_000, ...settings },
    log,
  );
}
