import type pg from 'pg';
import type { z } from 'zod';
import type { TenantId } from '../kernel/ids.ts';
import type { JobContract, JobRequest } from '../kernel/job.ts';

export interface EnqueueOptions {
  /** A second job with the same name and id is ignored while the first is known (until a day after its end). */
  readonly id?: string;
  readonly delayMs?: number;
  /** Default: the `tenantId` in the data, if there is one. */
  readonly tenantId?: TenantId;
  /** Default: the job's own id. */
  readonly correlationId?: string;
}

/**
 * An interval in milliseconds, or a cron expression (five fields, or six with seconds) in a time zone, UTC by
 * default.
 */
export type Recurrence = { readonly everyMs: number } | { readonly cron: string; readonly timeZone?: string };

/** A recurring job, run once per occurrence in the whole installation, whatever the number of processes. */
export interface Schedule {
  /** Made by `enqueue(job, data)`. */
  readonly run: JobRequest;
  readonly recurrence: Recurrence;
  readonly tenantId?: TenantId;
}

export interface JobCounts {
  readonly waiting: number;
  readonly active: number;
  readonly delayed: number;
  readonly failed: number;
}

export interface FailedJob {
  readonly id: string;
  readonly name: string;
  readonly tenantId: TenantId | undefined;
  readonly correlationId: string;
  readonly reason: string;
  readonly attempts: number;
  readonly failedAt: Date;
}

/**
 * Background work. A job that is not registered, or data that its schema refuses, is a programming error and throws.
 */
export interface Jobs {
  enqueue<Schema extends z.ZodType>(
    job: JobContract<Schema>,
    data: z.input<NoInfer<Schema>>,
    options?: EnqueueOptions,
  ): Promise<void>;
  /** The job exists if and when the transaction that is open on `client` commits. */
  enqueueWithin(client: pg.ClientBase, request: JobRequest, options?: EnqueueOptions): Promise<void>;

  /** Creates or changes the schedule under this key (letters, digits, `.`, `_`, `-`, `/`). */
  schedule(key: string, schedule: Schedule): Promise<void>;
  /** Removes the schedule. A run in progress continues. */
  unschedule(key: string): Promise<void>;
  schedules(): Promise<readonly string[]>;

  /** Starts the workers. Enqueueing needs no start. */
  start(): Promise<void>;
  /** Takes no more jobs and waits for the running ones. Unfinished ones are returned for another process. */
  stop(withinMs?: number): Promise<void>;
  /** Stops, and closes all connections. */
  close(): Promise<void>;

  counts(): Promise<JobCounts>;
  /** The latest first. */
  failed(limit: number): Promise<readonly FailedJob[]>;
  /** Puts a failed job back to work with all its attempts. Returns false if there is none with this id. */
  retry(id: string): Promise<boolean>;
}
