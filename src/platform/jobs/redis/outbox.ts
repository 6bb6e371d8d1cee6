import { setTimeout as sleep } from 'node:timers/promises';
import type { JobsOptions } from 'bullmq';
import pg from 'pg';
import type { Logger } from 'pino';
import { OUTBOX_CONNECTIONS } from '../../database/connections.ts';
import { plainPool } from '../../database/plain-pool.ts';
import { asLogin, type DatabaseConfig } from '../../database/logins.ts';
import { transaction } from '../../database/transaction.ts';
import { storedOptions } from '../backend.ts';
import { laneOf, type JobPayload, type PreparedJob } from '../catalogue.ts';
import { SCHEMA } from '../postgres/schema.ts';

export interface OutboxJob {
  readonly name: string;
  readonly data: JobPayload;
  readonly opts: JobsOptions;
}

interface Row {
  readonly sequence: string;
  readonly lane: string;
  readonly id: string;
  readonly name: string;
  readonly payload: JobPayload;
  readonly options: JobsOptions;
}

type Deliver = (lane: string, jobs: readonly OutboxJob[]) => Promise<void>;

/**
 * Jobs are delivered to Redis within the transaction. If Redis does not respond, the transaction is idle for the
 * length of its timeouts.
 */
const LIMITS = { statement: 10_000, lock: 5_000, idleInTransaction: 30_000 };
const PAGE = 200;
const IDLE_MS = 200;
const LONGEST_PAUSE_MS = 10_000;

const PUT = {
  name: 'put-into-outbox',
  text: `insert into ${SCHEMA}.outbox (lane, id, name, payload, options) values ($1, $2, $3, $4, $5)`,
};
const TAKE = `
  delete from ${SCHEMA}.outbox
  where sequence in (select sequence from ${SCHEMA}.outbox order by sequence limit ${PAGE} for update skip locked)
  returning sequence, lane, id, name, payload, options`;

/**
 * No transaction spans PostgreSQL and Redis. So a job of a transaction is stored in it, and transferred after the
 * commit: at least once, under its id, so that Redis ignores repetitions.
 */
export class Outbox {
  readonly #pool: pg.Pool;
  readonly #deliver: Deliver;
  readonly #log: Logger;
  #stopping = new AbortController();
  #running: Promise<void> | undefined;

  constructor(config: DatabaseConfig, deliver: Deliver, log: Logger) {
    this.#pool = plainPool(
      {
        ...asLogin(config, 'service'),
        max: OUTBOX_CONNECTIONS,
        application_name: 'castellan/outbox',
      },
      LIMITS,
    );
    this.#deliver = deliver;
    this.#log = log;
  }

  async put(client: pg.ClientBase, job: PreparedJob): Promise<void> {
    const { definition, id, payload, delayMs } = job;
    const options: JobsOptions = { ...storedOptions(job), delay: delayMs, timestamp: Date.now() };
    await client.query({
      ...PUT,
      values: [laneOf(definition), id, definition.name, JSON.stringify(payload), JSON.stringify(options)],
    });
  }

  /** Stores a job outside of any transaction of the caller. */
  async keep(job: PreparedJob): Promise<void> {
    const client = await this.#pool.connect();
    try {
      await this.put(client, job);
    } finally {
      client.release();
    }
  }

  start(): void {
    this.#stopping = new AbortController();
    this.#running ??= this.#run(this.#stopping.signal);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    this.#running = undefined;
  }

  async close(): Promise<void> {
    await this.stop();
    await this.#pool.end();
  }

  async #run(signal: AbortSignal): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      try {
        const moved = await this.#carry();
        failures = 0;
        if (moved === PAGE) continue;
      } catch (error) {
        failures += 1;
        this.#log.warn({ reason: (error as Error).message }, 'jobs in the outbox could not be transferred to Redis');
      }
      const pause = Math.min(IDLE_MS * 2 ** failures, LONGEST_PAUSE_MS);
      await sleep(pause, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Delivers before the deletion commits: a crash in between delivers a job twice, but never loses it. */
  #carry(): Promise<number> {
    return transaction(this.#pool, async (client) => {
      const { rows } = await client.query<Row>(TAKE);
      rows.sort((one, other) => Number(one.sequence) - Number(other.sequence));
      for (const lane of new Set(rows.map((row) => row.lane))) {
        const jobs = rows.filter((row) => row.lane === lane);
        await this.#deliver(
          lane,
          jobs.map(({ id, name, payload, options }) => ({ name, data: payload, opts: { ...options, jobId: id } })),
        );
      }
      return rows.length;
    });
  }
}
