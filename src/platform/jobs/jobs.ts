import type pg from 'pg';
import type { z } from 'zod';
import type { TenantId } from '../kernel/ids.ts';
import type { JobContract, JobRequest } from '../kernel/job.ts';

export interface EnqueueOptions {
  /** A second job of the same name with the same id is not taken while the first is known (a day after its end). */
  readonly id?: string;
  readonly delayMs?: number;
  /** Default: the `tenantId` in the data, if there is one. */
  readonly tenantId?: TenantId;
  /** Default: the job's own id. */
  readonly correlationId?: string;
}

/** Every so many milliseconds, or by a cron expression (five fields, or six with seconds) in a time zone, UTC by default. */
export type Recurrence = { readonly everyMs: number } | { readonly cron: string; readonly timeZone?: string };

/** A job that comes again and again, once in the whole house, whatever the number of processes. */
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

/** Background work. A job that was not registered, or data that its schema refuses, throws: that is a mistake in the program. */
export interface Jobs {
  enqueue<Schema extends z.ZodType>(
    job: JobContract<Schema>,
    data: z.input<NoInfer<Schema>>,
    options?: EnqueueOptions,
  ): Promise<void>;
  /** The job exists if and when the transaction that is open on `client` commits. */
  enqueueWithin(client: pg.ClientBase, request: JobRequest, options?: EnqueueOptions): Promise<void>;

  /** Begins or changes the schedule under this key (letters, digits, `.`, `_`, `-`, `/`). */
  schedule(key: string, schedule: Schedule): Promise<void>;
  /** Ends it; a run that is under way ends by itself. */
  unschedule(key: string): Promise<void>;
  schedules(): Promise<readonly string[]>;

  /** Begins to work. Enqueueing needs no start. */
  start(): Promise<void>;
  /** Takes no more jobs and waits for those that run; what is not done in time is given back for another process to do. */
  stop(withinMs?: number): Promise<void>;
  /** Stops, and lets go of all connections. */
  close(): Promise<void>;

  counts(): Promise<JobCounts>;
  /** The latest first. */
  failed(limit: number): Promise<readonly FailedJob[]>;
  /** Puts a failed job back to work with all its attempts; false when there is none with this id. */
  retry(id: string): Promise<boolean>;
}
