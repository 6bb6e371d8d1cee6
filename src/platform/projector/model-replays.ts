import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { Position } from '../kernel/event.ts';
import type { AnyReadModel } from '../kernel/read-model.ts';
import { transaction } from '../database/transaction.ts';
import type { EventCodec } from '../eventstore/codec.ts';
import { levelOfFailure, type LogTrust } from '../eventstore/log-trust.ts';
import type { EventStore } from '../eventstore/port.ts';
import { trustedReads } from '../eventstore/trusted-store.ts';
import type { Checkpoint, Checkpoints } from './checkpoints.ts';
import { DeadLetters } from './dead-letters.ts';
import { Projection } from './projection.ts';
import { dropRetired } from './retired-versions.ts';
import { CannotFold, isDamaged, SetAside, type StreamSetAside } from './set-aside.ts';
import { replayIntoTable } from './table-replay.ts';
import { serveTable, tableName } from './table.ts';

export interface ReplayServices {
  readonly pool: pg.Pool;
  readonly store: EventStore;
  readonly codec: EventCodec;
  readonly models: readonly AnyReadModel[];
  readonly checkpoints: Checkpoints;
  readonly trust: LogTrust;
  readonly log: Logger;
  /** No other process works on this database. */
  readonly alone: boolean;
}

export interface ModelReplayOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: Parameters<typeof replayIntoTable>[1]['onProgress'];
  /** A command brings the tables to a log that does not match them. A service never does. */
  readonly isRestore?: boolean;
}

interface Replay {
  readonly model: AnyReadModel;
  readonly aside: SetAside;
  readonly log: Pick<EventStore, 'readAll' | 'head'>;
}

/** Until failed rebuilds are retried, and until those of other processes are looked at again. */
const RETRY_MS = 1_000;

/** Fills the tables of new versions of read models from the log, beside the tables that are served, and switches. */
export class ModelReplays {
  readonly #services: ReplayServices;

  constructor(services: ReplayServices) {
    this.#services = services;
  }

  /** Rebuilds the models that are behind, one after the other, and hands them to the lanes. */
  async run(signal: AbortSignal): Promise<void> {
    const { models, trust, checkpoints, log } = this.#services;
    let seize = this.#services.alone;
    while (!signal.aborted) {
      try {
        await trust.assured();
        const keys = models.map(({ name, version }) => ({ name, version }));
        const mine = await checkpoints.acquire(keys, ['filling'], seize);
        seize = false;
        for (const checkpoint of mine) await this.#tryToReplay(checkpoint, signal);
        if (!(await this.#anyIsFilling())) return;
      } catch (error) {
        if (!signal.aborted)
          log[levelOfFailure(error)]({ reason: (error as Error).message }, 'read models could not be rebuilt');
      }
      // Failed rebuilds are retried. Those of another process are taken over if it dies.
      await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  /** A model that cannot be rebuilt does not hold up the others. */
  async #tryToReplay(cursor: Checkpoint, signal: AbortSignal): Promise<void> {
    const { log } = this.#services;
    try {
      for (const { stream, position, error } of await this.replay(cursor, { signal }))
        log.error({ model: cursor.name, stream, position: String(position), reason: error }, 'a stream was parked');
    } catch (error) {
      if (signal.aborted) return;
      log[levelOfFailure(error)](
        { model: cursor.name, reason: (error as Error).message },
        'a read model could not be rebuilt',
      );
      if (error instanceof CannotFold) await this.#discardIfServed(cursor);
    }
  }

  /** A rebuild that a command left unfinished, of a version that is served: without it nothing is missing. */
  async #discardIfServed(cursor: Checkpoint): Promise<void> {
    const { checkpoints, pool } = this.#services;
    const isServed = (await checkpoints.all()).some(
      ({ name, version, state }) => state === 'live' && name === cursor.name && version === cursor.version,
    );
    if (!isServed) return;
    await checkpoints.abandon(cursor);
    await dropRetired(pool, cursor.name);
  }

  async #anyIsFilling(): Promise<boolean> {
    const { models, checkpoints } = this.#services;
    return (await checkpoints.all()).some(
      ({ name, version, state }) =>
        state === 'filling' && models.some((model) => model.name === name && model.version === version),
    );
  }

  /**
   * Rebuilds the table of one held cursor up to the end of the log, then serves it instead of the previous one. Returns
   * the streams that are parked in it: those with an event that cannot be decoded, and those that another version has
   * parked and that this one cannot fold either. Any other event that cannot be folded ends the replay: a new version
   * must never lack what the served one has.
   */
  async replay(checkpoint: Checkpoint, options: ModelReplayOptions): Promise<readonly StreamSetAside[]> {
    const { codec, pool, models, checkpoints } = this.#services;
    const { isRestore = false } = options;
    const log = trustedReads(this.#services.store, this.#services.trust, { isRestore });
    const model = models.find(({ name, version }) => name === checkpoint.name && version === checkpoint.version)!;
    const deadLetters = new DeadLetters(pool);
    const parked = await deadLetters.streamsNamed(model.name);
    const aside = new SetAside(model.name, {
      mayLack: ({ event }) => model.onFoldFailure !== 'halt' && (isDamaged(event) || parked.has(event.stream)),
      park: (client, waiting) => deadLetters.parkAll(client, checkpoint, waiting),
      earlier: (await deadLetters.streamsOf([checkpoint])).get(checkpoint) ?? [],
    });
    let saved = checkpoint.position;
    const position = await replayIntoTable(
      { store: log, codec, pool },
      {
        model,
        aside,
        generation: checkpoint.generation,
        from: checkpoint.position,
        empty: checkpoint.position === 0n,
        checkpoint: async (client, to) => {
          await checkpoints.advance(client, [{ checkpoint, from: saved, to }]);
          saved = to;
        },
        ...(options.signal ? { signal: options.signal } : {}),
        ...(options.onProgress ? { onProgress: options.onProgress } : {}),
      },
    );
    await this.#serve({ ...checkpoint, position }, { model, aside, log });
    return aside.streams;
  }

  /**
   * The switch: queries see the new table, the previous cursors retire, and a lane takes the lease. The lane waits
   * meanwhile, and the new table is first folded up to the position of the previous one, so that no read goes back in
   * time.
   */
  async #serve(cursor: Checkpoint, { model, aside, log }: Replay): Promise<void> {
    const { name, version, generation } = cursor;
    const { pool, checkpoints } = this.#services;
    await transaction(pool, async (client) => {
      const {
        rows: [before],
      } = await client.query<{ position: string }>(
        `select position::text from cursors where name = $1 and state = 'live' for update`,
        [name],
      );
      const to = await this.#foldUpTo(client, cursor, { model, aside, log }, BigInt(before?.position ?? 0));
      await checkpoints.advance(client, [{ checkpoint: cursor, from: cursor.position, to }]);
      await client.query(serveTable(name, tableName(name, version, generation)));
      await client.query(
        `update cursors set state = case when version = $2 and generation = $3 then 'live' else 'retired' end,
                leased_until = '-infinity', epoch = epoch + 1
          where name = $1 and state <> 'retired'`,
        [name, version, generation],
      );
      // Nothing follows the previous versions any more: their parked streams concern nobody.
      await client.query(
        'delete from parked_events where name = $1 and (version, generation) is distinct from ($2::int, $3::int)',
        [name, version, generation],
      );
    });
  }

  async #foldUpTo(
    client: pg.PoolClient,
    { position, generation }: Checkpoint,
    { model, aside, log }: Replay,
    target: Position,
  ): Promise<Position> {
    const { codec } = this.#services;
    const projection = new Projection(model, generation);
    let reached = position;
    while (reached < target) {
      const page = await log.readAll(reached, 5_000);
      const missed = page.events.filter((event) => event.position <= target && projection.wants(event.type));
      const decoded = (await codec.decodeForFollowers(missed)).filter((event) => event !== undefined);
      await aside.fold(client, projection, decoded);
      projection.committed();
      reached = page.position < target ? page.position : target;
      if (page.events.length === 0 && !page.more) break;
    }
    return reached;
  }
}
