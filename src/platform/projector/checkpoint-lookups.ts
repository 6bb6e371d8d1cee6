import type pg from 'pg';
import { Batcher } from '../database/batcher.ts';
import type { Checkpoint } from './checkpoint-move.ts';

type Key = Pick<Checkpoint, 'name' | 'version' | 'generation'>;
export type OtherVersion = Pick<Checkpoint, 'name' | 'version' | 'state'>;

/** What a start asks of the table `cursors`: dozens of reactions begin in one turn of the event loop, and share a statement. */
export class CheckpointLookups {
  readonly #pool: pg.Pool;
  readonly #existing = new Batcher((_: 'all', keys: readonly Key[]) => this.#exist(keys));
  readonly #versions = new Batcher((_: 'all', names: readonly string[]) => this.#versionsOf(names));

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  exists(key: Key): Promise<boolean> {
    return this.#existing.load('all', key);
  }

  /** Every version of a reaction that has, or had, a cursor. */
  reactionVersions(name: string): Promise<readonly OtherVersion[]> {
    return this.#versions.load('all', name);
  }

  async #exist(keys: readonly Key[]): Promise<boolean[]> {
    const { rows } = await this.#pool.query<Key>(
      `select c.name, c.version, c.generation
         from cursors c join json_to_recordset($1::json) as k(name text, version int, generation int)
           on c.name = k.name and c.version = k.version and c.generation = k.generation`,
      [JSON.stringify(keys.map(({ name, version, generation }) => ({ name, version, generation })))],
    );
    return keys.map(({ name, version, generation }) =>
      rows.some((row) => row.name === name && row.version === version && row.generation === generation),
    );
  }

  async #versionsOf(names: readonly string[]): Promise<OtherVersion[][]> {
    const { rows } = await this.#pool.query<OtherVersion>(
      `select name, version, state from cursors where name = any($1) and kind = 'reaction' order by name, version`,
      [names],
    );
    return names.map((name) => rows.filter((row) => row.name === name));
  }
}
