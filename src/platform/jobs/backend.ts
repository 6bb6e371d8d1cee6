import type { JobsOptions, Processor, Queue, Worker, WorkerOptions } from 'bullmq';
import type pg from 'pg';
import type { JobPayload, PreparedJob } from './catalogue.ts';

export type LaneQueue = Queue<JobPayload>;
export type LaneWorker = Worker<JobPayload>;

/** Where jobs are kept: what differs between PostgreSQL and Redis. */
export interface JobBackend {
  queue(lane: string): LaneQueue;
  worker(
    lane: string,
    processor: Processor<JobPayload>,
    options: Omit<WorkerOptions, 'connection' | 'prefix'>,
  ): LaneWorker;
  add(job: PreparedJob): Promise<void>;
  addWithin(client: pg.ClientBase, job: PreparedJob): Promise<void>;
  /** Work of the backend's own, beside the workers. */
  start(): Promise<void>;
  stop(): Promise<void>;
  close(): Promise<void>;
}

const DAY_S = 24 * 60 * 60;

/** The name under which BullMQ asks the worker for the delay: the job's own declaration tells it (`retryDelay`). */
const DECLARED_BACKOFF = 'declared';

/** What BullMQ stores with every job. */
export const storedOptions = ({ definition }: Pick<PreparedJob, 'definition'>): JobsOptions => ({
  attempts: definition.attempts,
  backoff: { type: DECLARED_BACKOFF },
  // A finished job is kept as long as its id may be asked for again, a failed one until somebody has looked at it.
  removeOnComplete: { age: DAY_S, count: 10_000 },
  removeOnFail: { age: 30 * DAY_S, count: 10_000 },
  // The reason is kept (`failureReason`); a stack would bring the original message with it.
  stackTraceLimit: 0,
});
