import type { JobsOptions, Processor, Queue, Worker, WorkerOptions } from 'bullmq';
import type pg from 'pg';
import type { JobPayload, PreparedJob } from './catalogue.ts';

export type LaneQueue = Queue<JobPayload>;
export type LaneWorker = Worker<JobPayload>;

/** The storage of jobs: the part that differs between PostgreSQL and Redis. */
export interface JobBackend {
  queue(lane: string): LaneQueue;
  worker(
    lane: string,
    processor: Processor<JobPayload>,
    options: Omit<WorkerOptions, 'connection' | 'prefix'>,
  ): LaneWorker;
  add(job: PreparedJob): Promise<void>;
  addWithin(client: pg.ClientBase, job: PreparedJob): Promise<void>;
  /** Before workers are opened: throws if the backend has too few connections for that many. */
  expectRoomFor(workers: number): void;
  /** Starts the backend's own work, besides the workers. */
  start(): Promise<void>;
  stop(): Promise<void>;
  close(): Promise<void>;
}

const DAY_S = 24 * 60 * 60;

const FINISHED_KEPT = 10_000;
const KEPT_COMPLETED = { age: DAY_S, count: FINISHED_KEPT };
const KEPT_FAILED = { age: 30 * DAY_S, count: FINISHED_KEPT };

/** Of a job whose end removes no other jobs. */
export const REMOVES_NOTHING: Pick<JobsOptions, 'removeOnComplete' | 'removeOnFail'> = {
  removeOnComplete: false,
  removeOnFail: false,
};

/** BullMQ's name for the backoff. The job's own declaration determines the delay (`retryDelay`). */
const DECLARED_BACKOFF = 'declared';

/** Options that BullMQ stores with every job. */
export const storedOptions = ({ definition }: Pick<PreparedJob, 'definition'>): JobsOptions => ({
  attempts: definition.attempts,
  backoff: { type: DECLARED_BACKOFF },
  // A finished job is kept while its id must be recognized; a failed one until an operator has had time to look at
  // it.
  removeOnComplete: KEPT_COMPLETED,
  removeOnFail: KEPT_FAILED,
  // The reason is stored (`failureReason`); a stack would contain the original message.
  stackTraceLimit: 0,
});
