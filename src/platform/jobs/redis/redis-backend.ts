import { Queue, Worker, type Processor, type WorkerOptions } from 'bullmq';
import { Redis } from 'ioredis';
import type pg from 'pg';
import type { Logger } from 'pino';
import { rejectAfter } from '../../observability/health.ts';
import { RepeatedWarnings } from '../../observability/repeated-warnings.ts';
import type { DatabaseConfig } from '../../database/logins.ts';
import { storedOptions, type JobBackend, type LaneQueue, type LaneWorker } from '../backend.ts';
import { laneOf, type JobPayload, type PreparedJob } from '../catalogue.ts';
import { Outbox } from './outbox.ts';

const PREFIX = 'castellan';
/** A caller waits: a job that Redis does not accept in this time is stored in the database instead. */
const COMMAND_MS = 2_000;
/** Longer than a worker waits for the next job in one command (10 s). */
const SILENT_MS = 30_000;

/** Jobs in Redis, for installations with more jobs than PostgreSQL can handle. */
export class RedisJobBackend implements JobBackend {
  readonly #producer: Redis;
  readonly #consumer: Redis;
  readonly #queues = new Map<string, LaneQueue>();
  readonly #outbox: Outbox;
  readonly #log: Logger;

  constructor(url: string, config: DatabaseConfig, log: Logger) {
    this.#log = log;
    this.#producer = new Redis(url, {
      maxRetriesPerRequest: 1,
      commandTimeout: COMMAND_MS,
      connectTimeout: COMMAND_MS,
      socketTimeout: SILENT_MS,
    });
    // A worker waits for Redis without a limit, but not on a connection that is dead.
    this.#consumer = new Redis(url, { maxRetriesPerRequest: null, socketTimeout: SILENT_MS });
    const warnings = new RepeatedWarnings(log);
    for (const client of [this.#producer, this.#consumer])
      client.on('error', (error) => warnings.warn({ reason: error.message }, 'the connection to Redis failed'));
    this.#outbox = new Outbox(
      config,
      (lane, jobs) =>
        this.queue(lane)
          .addBulk([...jobs])
          .then(() => undefined),
      log,
    );
  }

  queue(lane: string): LaneQueue {
    let queue = this.#queues.get(lane);
    if (!queue) {
      queue = new Queue<JobPayload>(lane, {
        connection: this.#producer,
        prefix: PREFIX,
        streams: { events: { maxLen: 100 } },
      }) as LaneQueue;
      this.#queues.set(lane, queue);
    }
    return queue;
  }

  worker(lane: string, processor: Processor<JobPayload>, options: Omit<WorkerOptions, 'connection'>): LaneWorker {
    return new Worker<JobPayload>(lane, processor, {
      ...options,
      connection: this.#consumer,
      prefix: PREFIX,
    }) as LaneWorker;
  }

  async add(job: PreparedJob): Promise<void> {
    const options = { ...storedOptions(job), jobId: job.id, delay: job.delayMs };
    try {
      await rejectAfter(
        COMMAND_MS,
        this.queue(laneOf(job.definition))
          .add(job.definition.name, job.payload, options)
          .then(() => undefined),
      );
    } catch (error) {
      // The id is the same: if Redis did accept the job, it ignores the second one.
      this.#log.warn(
        { job: job.definition.name, reason: (error as Error).message },
        'Redis did not accept a job: it waits in the database',
      );
      await this.#outbox.keep(job);
    }
  }

  addWithin(client: pg.ClientBase, job: PreparedJob): Promise<void> {
    return this.#outbox.put(client, job);
  }

  expectRoomFor(): void {
    // Redis has a connection for each.
  }

  async start(): Promise<void> {
    this.#outbox.start();
  }

  async stop(): Promise<void> {
    await this.#outbox.stop();
  }

  async close(): Promise<void> {
    await this.#outbox.close();
    this.#producer.disconnect();
    this.#consumer.disconnect();
  }
}
