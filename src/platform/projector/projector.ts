import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { Position } from '../kernel/event.ts';
import type { AnyReadModel, Lane } from '../kernel/read-model.ts';
import type { EventCodec } from '../eventstore/codec.ts';
import type { LogTrust } from '../eventstore/log-trust.ts';
import type { EventStore } from '../eventstore/port.ts';
import { Checkpoints, type Checkpoint } from './checkpoints.ts';
import { CatchUpSubscription } from './catch-up-subscription.ts';
import { Freshness } from './freshness.ts';
import { LaneRunner } from './lane-runner.ts';
import { ModelReplays, type ModelReplayOptions } from './model-replays.ts';
import { DeadLetterOperations } from './dead-letter-operations.ts';
import { DeadLetters } from './dead-letters.ts';
import type { StreamSetAside } from './set-aside.ts';
import { tableShapeOf } from './projection.ts';
import { createTable, serveTable, tableName } from './table.ts';
import { TenantBacklogs } from './tenant-backlogs.ts';

export interface ProjectorOptions {
  readonly pool: pg.Pool;
  readonly store: EventStore;
  readonly codec: EventCodec;
  readonly subscription: CatchUpSubscription;
  readonly models: readonly AnyReadModel[];
  readonly freshness: Freshness;
  readonly trust: LogTrust;
  readonly log: Logger;
  /** No other process works on this database: none holds its leases or reads its checkpoints. */
  readonly alone: boolean;
}

const LANES: readonly Lane[] = ['main', 'telemetry'];

/** A declared model that is not reliable yet. */
export interface LaggingModel {
  readonly name: string;
  /** Its table is complete up to some position; false while it is filled for the first time, or halted. */
  readonly isServed: boolean;
}

/** As many names as fit in a sentence. */
const NAMED = 3;
const listed = (names: readonly string[]): string =>
  names.length > NAMED + 1 ? `${names.slice(0, NAMED).join(', ')} and ${names.length - NAMED} more` : names.join(', ');

/**
 * Runs the read side: makes sure that every declared model has a table and a cursor, rebuilds new ones, runs the
 * lanes.
 */
export class Projector {
  readonly checkpoints: Checkpoints;
  readonly deadLetters: DeadLetterOperations;
  readonly backlogs: TenantBacklogs;
  readonly #options: ProjectorOptions;
  readonly #lanes: readonly LaneRunner[];
  readonly #replays: ModelReplays;
  readonly #stop = new AbortController();
  #filling: Promise<void> | undefined;

  constructor(options: ProjectorOptions) {
    const { pool, subscription, freshness, trust, log, alone, models } = options;
    this.#options = options;
    this.checkpoints = new Checkpoints(pool, randomUUID());
    this.deadLetters = new DeadLetterOperations(pool);
    this.backlogs = new TenantBacklogs(pool);
    const services = {
      pool,
      checkpoints: this.checkpoints,
      deadLetters: new DeadLetters(pool),
      subscription,
      freshness,
      trust,
      log,
      alone,
    };
    this.#replays = new ModelReplays({ ...options, checkpoints: this.checkpoints });
    this.#lanes = LANES.map((lane) => new LaneRunner(lane, models, services));
  }

  /** Creates missing tables, so that queries find every name. A new model starts to rebuild. */
  async prepare(): Promise<void> {
    const { store, models } = this.#options;
    const head = await store.head();
    const known = await this.checkpoints.all();
    for (const model of models) await this.#ensure(model, head, known);
  }

  async start(): Promise<void> {
    await this.prepare();
    for (const lane of this.#lanes) lane.start();
    this.#filling = this.#replays.run(this.#stop.signal);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all([...this.#lanes.map((lane) => lane.stop()), this.#filling]);
  }

  /** Retires rebuilds that are not served yet: they were built from another log. */
  async discardUnserved(): Promise<void> {
    const { pool } = this.#options;
    await pool.query(
      `update cursors set state = 'retired', epoch = epoch + 1, leased_until = '-infinity' where kind = 'model' and state = 'filling'`,
    );
  }

  /** Every cursor, with the seconds since it last moved. */
  async progress(): Promise<(Checkpoint & { idleSeconds: number; failure: string | null })[]> {
    const [cursors, { rows }] = await Promise.all([
      this.checkpoints.all(),
      this.#options.pool.query<{
        name: string;
        version: number;
        generation: number;
        idle: number;
        failure: string | null;
      }>(
        'select name, version, generation, extract(epoch from now() - updated_at)::float8 as idle, failure from cursors',
      ),
    ]);
    return cursors.map((checkpoint) => {
      const row = rows.find(
        ({ name, version, generation }) =>
          name === checkpoint.name && version === checkpoint.version && generation === checkpoint.generation,
      );
      return { ...checkpoint, idleSeconds: row?.idle ?? 0, failure: row?.failure ?? null };
    });
  }

  /** True while this process moves every lane. */
  get leads(): boolean {
    return this.#lanes.every(({ leads }) => leads);
  }

  async livePositions(): Promise<ReadonlyMap<string, Position>> {
    return new Map(
      (await this.checkpoints.all())
        .filter(({ state }) => state === 'live')
        .map(({ name, position }) => [name, position]),
    );
  }

  /**
   * Declared models that are not reliable yet: rebuilding, halted, or behind the log without progress for seconds. A
   * rebuild of a version that is served does not count: queries do not see it.
   */
  async lagging(): Promise<LaggingModel[]> {
    const head = await this.#options.store.head();
    const declared = new Set(this.#options.models.map(({ name, version }) => `${name} ${version}`));
    const cursors = (await this.progress()).filter(({ name, version }) => declared.has(`${name} ${version}`));
    const live = new Set(cursors.filter(({ state }) => state === 'live').map(({ name }) => name));
    return cursors
      .filter(({ name, state }) => state !== 'retired' && !(state === 'filling' && live.has(name)))
      .filter(({ state, position, idleSeconds }) => state !== 'live' || (position < head && idleSeconds > 5))
      .map(({ name, state }) => ({ name, isServed: state === 'live' }));
  }

  /** Describes impairments for `/health`; undefined when all is well. */
  async impairment(): Promise<string | undefined> {
    const halted = (await this.checkpoints.all()).filter(({ state }) => state === 'halted').map(({ name }) => name);
    const parked = await this.deadLetters.names();
    const held = await this.backlogs.stuck();
    const stuck = [...new Set([...(await this.checkpoints.stuck()), ...held])].toSorted();
    const behind = (await this.lagging()).filter(({ isServed }) => isServed).map(({ name }) => name);
    const parts = [
      behind.length > 0 && `behind the log: ${listed(behind)}`,
      halted.length > 0 && `halted: ${halted.join(', ')}`,
      stuck.length > 0 && `stuck: ${stuck.join(', ')}`,
      parked.length > 0 && `parked streams in: ${parked.join(', ')}`,
    ];
    return parts.filter(Boolean).join('; ') || undefined;
  }

  async #ensure(model: AnyReadModel, head: Position, known: readonly Checkpoint[]): Promise<void> {
    if (
      known.some(({ name, version, state }) => name === model.name && version === model.version && state !== 'retired')
    )
      return;
    const served = known.some(({ name, state }) => name === model.name && state === 'live');
    const generation =
      1 +
      Math.max(
        0,
        ...known
          .filter(({ name, version }) => name === model.name && version === model.version)
          .map((checkpoint) => checkpoint.generation),
      );
    const table = tableName(model.name, model.version, generation);
    const { name, version, lane } = model;
    const state = head === 0n ? 'live' : 'filling';
    await this.checkpoints.ensure(
      { name, version, generation, lane, kind: 'model', state, position: 0n },
      async (client) => {
        await client.query(createTable(tableShapeOf(model), table));
        // If nothing is served yet, an incomplete table is better than none; `/ready` reports that it lags.
        if (!served) await client.query(serveTable(name, table));
      },
    );
  }

  /** Rebuilds the table of one held cursor up to the end of the log, then serves it instead of the previous one. */
  replayCheckpoint(checkpoint: Checkpoint, options: ModelReplayOptions = {}): Promise<readonly StreamSetAside[]> {
    return this.#replays.replay(checkpoint, options);
  }
}
