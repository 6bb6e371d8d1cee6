import type { Job } from 'bullmq';
import type pg from 'pg';
import { RepeatedWarnings } from '../observability/repeated-warnings.ts';
import type { Logger } from 'pino';
import type { z } from 'zod';
import { enqueue, type JobContract, type JobRequest } from '../kernel/job.ts';
import { storedOptions, type JobBackend, type LaneQueue, type LaneWorker } from './backend.ts';
import { rejectAfter } from '../observability/health.ts';
import { laneOf, type JobCatalogue, type JobPayload } from './catalogue.ts';
import { retryDelay } from './job.ts';
import type { EnqueueOptions, FailedJob, JobCounts, Jobs, Schedule } from './jobs.ts';
import { correlationOf, processJob } from './process-job.ts';

export interface WorkSettings {
  /** Jobs of one lane at a time, per process. */
  readonly concurrency: Readonly<Record<string, number>>;
  /** If a process dies, another takes over its job after about this time plus two checks. */
  readonly lockMs: number;
  readonly stalledCheckMs: number;
}

const DEFAULT_CONCURRENCY = 8;
/** Limits how often a job may crash its process. */
const MAX_STALLS = 5;
/** Waits until a process runs a build that knows the job. */
const UNKNOWN_JOB_DELAY_MS = 60_000;
const STOP_MS = 4_000;
/** Milliseconds for a goodbye to a database or to Redis. */
const CLOSE_MS = 1_000;
const SCHEDULE_KEY = /^[A-Za-z0-9._/-]{1,120}$/;

export class BullMqJobs implements Jobs {
  readonly #backend: JobBackend;
  readonly #catalogue: JobCatalogue;
  readonly #settings: WorkSettings;
  readonly #log: Logger;
  readonly #warnings: RepeatedWarnings;
  readonly #queues: ReadonlyMap<string, LaneQueue>;
  #workers: LaneWorker[] = [];
  #closing = false;
  #draining = new AbortController();
  #givingBack = new AbortController();

  constructor(backend: JobBackend, catalogue: JobCatalogue, settings: WorkSettings, log: Logger) {
    this.#backend = backend;
    this.#catalogue = catalogue;
    this.#settings = settings;
    this.#log = log;
    this.#warnings = new RepeatedWarnings(log);
    this.#queues = new Map(catalogue.lanes.map((lane) => [lane, this.#openQueue(lane)]));
  }

  async enqueue<Schema extends z.ZodType>(
    job: JobContract<Schema>,
    data: z.input<NoInfer<Schema>>,
    options?: EnqueueOptions,
  ): Promise<void> {
    await this.#backend.add(this.#catalogue.prepare(enqueue(job, data), options));
  }

  async enqueueWithin(client: pg.ClientBase, request: JobRequest, options?: EnqueueOptions): Promise<void> {
    await this.#backend.addWithin(client, this.#catalogue.prepare(request, options));
  }

  async schedule(key: string, { run, recurrence, tenantId }: Schedule): Promise<void> {
    if (!SCHEDULE_KEY.test(key)) throw new TypeError('a schedule key is letters, digits, ".", "_", "-" and "/"');
    const { definition, payload } = this.#catalogue.prepare(run, tenantId && { tenantId });
    const repeat =
      'everyMs' in recurrence
        ? { every: recurrence.everyMs }
        : { pattern: recurrence.cron, tz: recurrence.timeZone ?? 'UTC' };
    const queue = this.#queues.get(laneOf(definition))!;
    await queue.upsertJobScheduler(key, repeat, {
      name: definition.name,
      data: payload,
      opts: storedOptions({ definition }),
    });
  }

  async unschedule(key: string): Promise<void> {
    await Promise.all([...this.#queues.values()].map((queue) => queue.removeJobScheduler(key)));
  }

  async schedules(): Promise<readonly string[]> {
    const perQueue = await Promise.all([...this.#queues.values()].map((queue) => queue.getJobSchedulers()));
    return perQueue
      .flat()
      .map(({ key }) => key)
      .sort();
  }

  async start(): Promise<void> {
    if (this.#workers.length > 0) return;
    this.#backend.expectRoomFor(this.#catalogue.lanes.length);
    this.#draining = new AbortController();
    this.#givingBack = new AbortController();
    this.#workers = this.#catalogue.lanes.map((lane) => this.#openWorker(lane));
    await this.#backend.start();
  }

  async stop(withinMs = STOP_MS): Promise<void> {
    const workers = this.#workers.splice(0);
    this.#draining.abort();
    const timer = setTimeout(() => this.#givingBack.abort(new Error('the process ends')), withinMs);
    const stopped = Promise.all([this.#backend.stop(), ...workers.map((worker) => worker.close())]);
    await this.#inTime(withinMs + CLOSE_MS, stopped);
    clearTimeout(timer);
  }

  async close(): Promise<void> {
    await this.stop();
    this.#closing = true; // errors of connections that close from here on are not logged
    await this.#inTime(CLOSE_MS, Promise.all([...this.#queues.values()].map((queue) => queue.close())));
    await this.#backend.close();
  }

  /** BullMQ waits for a Redis that is away without a limit, also to say goodbye. Its jobs are given to others later. */
  async #inTime(withinMs: number, closing: Promise<unknown>): Promise<void> {
    await rejectAfter(withinMs, closing).catch((error: unknown) =>
      this.#log.warn({ reason: (error as Error).message }, 'connections of jobs were left open'),
    );
  }

  async counts(): Promise<JobCounts> {
    const perQueue = await Promise.all([...this.#queues.values()].map((queue) => queue.getJobCounts()));
    const sum = (...states: string[]) =>
      perQueue.reduce((total, counts) => total + states.reduce((part, state) => part + (counts[state] ?? 0), 0), 0);
    return {
      waiting: sum('waiting', 'prioritized'),
      active: sum('active'),
      delayed: sum('delayed'),
      failed: sum('failed'),
    };
  }

  async failed(limit: number): Promise<readonly FailedJob[]> {
    const perQueue = await Promise.all([...this.#queues.values()].map((queue) => queue.getFailed(0, limit - 1)));
    return perQueue
      .flat()
      .map(failedJob)
      .sort((one, other) => other.failedAt.getTime() - one.failedAt.getTime())
      .slice(0, limit);
  }

  async retry(id: string): Promise<boolean> {
    for (const queue of this.#queues.values()) {
      const job = await queue.getJob(id);
      if (!job || !(await job.isFailed())) continue;
      await job.retry('failed', { resetAttemptsMade: true });
      return true;
    }
    return false;
  }

  #openQueue(lane: string): LaneQueue {
    const queue = this.#backend.queue(lane);
    queue.on('error', (error) => this.#report(error, lane, 'a job queue reported an error'));
    return queue;
  }

  #openWorker(lane: string): LaneWorker {
    const { concurrency, lockMs, stalledCheckMs } = this.#settings;
    const options = {
      catalogue: this.#catalogue,
      log: this.#log,
      draining: this.#draining.signal,
      givingBack: this.#givingBack.signal,
    };
    const worker = this.#backend.worker(lane, (job, token) => processJob(job, token, options), {
      concurrency: concurrency[lane] ?? DEFAULT_CONCURRENCY,
      lockDuration: lockMs,
      stalledInterval: stalledCheckMs,
      maxStalledCount: MAX_STALLS,
      runRetryDelay: 1_000,
      settings: { backoffStrategy: (attempt, _type, _error, job) => this.#delay(job?.name, attempt) },
    });
    worker.on('error', (error) => this.#report(error, lane, 'a job worker reported an error'));
    return worker;
  }

  #report(error: Error, lane: string, message: string): void {
    if (!this.#closing) this.#warnings.warn({ lane, reason: error.message }, message);
  }

  #delay(name: string | undefined, attempt: number): number {
    const definition = name === undefined ? undefined : this.#catalogue.named(name);
    return definition ? retryDelay(definition.backoff, attempt) : UNKNOWN_JOB_DELAY_MS;
  }
}

const failedJob = (job: Job<JobPayload>): FailedJob => ({
  id: job.id!,
  name: job.name,
  tenantId: job.data.tenantId ?? undefined,
  correlationId: correlationOf(job),
  reason: job.failedReason ?? '',
  attempts: job.attemptsMade,
  failedAt: new Date(job.finishedOn ?? 0),
});
