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
  /** Keeps the jobs in Redis. The database then holds only jobs of transactions, until they are transferred. */
  readonly redisUrl?: string | undefined;
  /** Maximum connections to PostgreSQL if it holds the jobs. Default: enough for a process that works. */
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
