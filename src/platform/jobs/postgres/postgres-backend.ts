import {
  type JobsOptions,
  PostgresConnection,
  PostgresQueueBackend,
  Queue,
  Worker,
  type BackendFactory,
  type PgPool,
  type PostgresConnectionOptions,
  type Processor,
  type WorkerOptions,
} from 'bullmq';
import pg from 'pg';
import { plainPool } from '../../database/plain-pool.ts';
import { asLogin, type DatabaseConfig } from '../../database/logins.ts';
import { REMOVES_NOTHING, storedOptions, type JobBackend, type LaneQueue, type LaneWorker } from '../backend.ts';
import { laneOf, type JobPayload, type PreparedJob } from '../catalogue.ts';
import { SCHEMA } from './schema.ts';

/** BullMQ accepts a pool of ours only with its default schema, so this overrides the name. */
class PoolConnection extends PostgresConnection {
  override readonly schema: string = SCHEMA;
}

/** One pool for all queues and workers of the process. By default BullMQ opens one for each. */
const onPool =
  (pool: pg.Pool): BackendFactory<PostgresQueueBackend, PostgresConnectionOptions> =>
  (name, options, { withBlockingConnection } = {}) =>
    new PostgresQueueBackend(
      new PoolConnection(pool as PgPool),
      name,
      options,
      true,
      withBlockingConnection ? name : undefined,
    );

/**
 * BullMQ's own function, which is its interface for other languages. Called directly, because a `Queue` cannot use
 * the connection of an open transaction. The arguments are positional: package.json pins BullMQ exactly. Before an
 * upgrade, compare its `add_job` with this call.
 */
const ADD_JOB = {
  name: 'add-job',
  text: `select ${SCHEMA}.add_job($1, $2, $3, $4::jsonb, $5::jsonb, 0, $6, $7, $8, null, null, null, null, null, false)`,
};

const LIMITS = { statement: 15_000, lock: 5_000, idleInTransaction: 15_000 };

/**
 * One job of so many removes finished jobs at its end, and so does each job of a schedule. BullMQ (6.7) reads all finished jobs
 * of the lane for that: if every job did it, a lane that has ended thousands would do little else.
 */
const REMOVES_ONE_IN = 50;

/** Connections that all lanes share, besides the one of each that listens. */
const SHARED = 2;

/** BullMQ's event stream is not read here; zero would keep all of it. */
const EVENTS_KEPT = 100;

export class PostgresJobBackend implements JobBackend {
  readonly #pool: pg.Pool;
  readonly #connections: number;
  #added = 0;

  constructor(config: DatabaseConfig, connections: number) {
    this.#connections = connections;
    this.#pool = plainPool(
      {
        ...asLogin(config, 'service', `-c search_path=${SCHEMA} -c TimeZone=UTC`),
        max: connections,
        application_name: 'castellan/jobs',
      },
      LIMITS,
    );
    // Every queue and worker listens for errors of the shared pool, and reports them.
    this.#pool.setMaxListeners(0);
  }

  queue(lane: string): LaneQueue {
    const options = { connection: this.#pool as PgPool, streams: { events: { maxLen: EVENTS_KEPT } } };
    return new Queue(lane, options, onPool(this.#pool)) as unknown as LaneQueue;
  }

  worker(lane: string, processor: Processor<JobPayload>, options: Omit<WorkerOptions, 'connection'>): LaneWorker {
    return new Worker(
      lane,
      processor,
      { ...options, connection: this.#pool as PgPool },
      onPool(this.#pool),
    ) as unknown as LaneWorker;
  }

  async add(job: PreparedJob): Promise<void> {
    await this.addWithin(this.#pool, job);
  }

  async addWithin(client: pg.ClientBase | pg.Pool, job: PreparedJob): Promise<void> {
    const removes = this.#added % REMOVES_ONE_IN === 0;
    this.#added += 1;
    await addJob(client, job, removes ? {} : REMOVES_NOTHING);
  }

  /** Each worker keeps one connection to listen. If none is left, no job ever runs. */
  expectRoomFor(workers: number): void {
    if (workers + SHARED > this.#connections)
      throw new Error(`${this.#connections} connections are too few for ${workers} lanes of jobs`);
  }

  async start(): Promise<void> {}
  async stop(): Promise<void> {}

  async close(): Promise<void> {
    await this.#pool.end();
  }
}

async function addJob(client: pg.ClientBase | pg.Pool, job: PreparedJob, over: Partial<JobsOptions>): Promise<void> {
  const { definition, id, payload, delayMs } = job;
  const options = { ...storedOptions(job), ...over, jobId: id, delay: delayMs };
  await client.query({
    ...ADD_JOB,
    values: [
      laneOf(definition),
      id,
      definition.name,
      JSON.stringify(payload),
      JSON.stringify(options),
      delayMs,
      Date.now(),
      definition.attempts,
    ],
  });
}
