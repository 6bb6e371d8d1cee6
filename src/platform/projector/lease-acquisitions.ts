import type pg from 'pg';
import { Batcher } from '../database/batcher.ts';
import { CHECKPOINT_LEASE_SECONDS, type Checkpoint } from './checkpoint-move.ts';
import { checkpointOf, type CheckpointRow } from './checkpoint-row.ts';

/** Locks in one order, so that statements of several processes do not block each other for good. */
const ACQUIRE = `
  with free as (
    select c.name, c.version, c.generation
      from cursors c join json_to_recordset($3::json) as k(name text, version int) on c.name = k.name and c.version = k.version
     where c.state = any($4) and ($5 or c.leased_until < now() or c.owner = $1)
     order by 1, 2, 3 for update of c)
  update cursors c set epoch = epoch + 1, owner = $1, leased_until = now() + make_interval(secs => $2)
    from free f
   where c.name = f.name and c.version = f.version and c.generation = f.generation
  returning c.name, c.version, c.generation, c.lane, c.kind, c.state, c.position::text, c.epoch::text, c.failure`;

const RELEASE = `
  with held as (
    select c.name, c.version, c.generation
      from cursors c join json_to_recordset($1::json) as k(name text, version int, generation int)
        on c.name = k.name and c.version = k.version and c.generation = k.generation
     where c.owner = $2
     order by 1, 2, 3 for update of c)
  update cursors c set leased_until = '-infinity'
    from held h
   where c.name = h.name and c.version = h.version and c.generation = h.generation`;

export type Wanted = Pick<Checkpoint, 'name' | 'version'>;

/** Leases that begin and end. A process has dozens: those of one turn of the event loop share a statement. */
export class LeaseAcquisitions {
  readonly #pool: pg.Pool;
  readonly #owner: string;
  readonly #acquired = new Batcher((kind: string, keys: readonly Wanted[]) => this.#acquireAll(kind, keys));
  readonly #released = new Batcher((_: 'all', held: readonly Checkpoint[]) => this.#releaseAll(held));

  constructor(pool: pg.Pool, owner: string) {
    this.#pool = pool;
    this.#owner = owner;
  }

  /** Returns the cursors whose leases were acquired. */
  async acquire(
    keys: readonly Wanted[],
    states: readonly Checkpoint['state'][],
    seize: boolean,
  ): Promise<Checkpoint[]> {
    const kind = JSON.stringify({ states, seize });
    const acquired = await Promise.all(keys.map((key) => this.#acquired.load(kind, key)));
    return acquired.flat();
  }

  async release(held: readonly Checkpoint[]): Promise<void> {
    await Promise.all(held.map((checkpoint) => this.#released.load('all', checkpoint)));
  }

  async #acquireAll(kind: string, keys: readonly Wanted[]): Promise<Checkpoint[][]> {
    const { states, seize } = JSON.parse(kind) as { states: Checkpoint['state'][]; seize: boolean };
    const values = [this.#owner, CHECKPOINT_LEASE_SECONDS, JSON.stringify(keys), states, seize];
    const { rows } = await this.#pool.query<CheckpointRow>(ACQUIRE, values);
    return keys.map(({ name, version }) =>
      rows.filter((row) => row.name === name && row.version === version).map(checkpointOf),
    );
  }

  async #releaseAll(held: readonly Checkpoint[]): Promise<undefined[]> {
    const keys = held.map(({ name, version, generation }) => ({ name, version, generation }));
    await this.#pool.query(RELEASE, [JSON.stringify(keys), this.#owner]);
    return held.map(() => undefined);
  }
}
