import type pg from 'pg';
import { versionOf, type AnyReaction } from '../kernel/reaction.ts';
import { settleAll } from '../database/transaction.ts';
import type { WorkingSet } from './working-set.ts';
import type { Checkpoints } from './checkpoints.ts';
import { RowWriter } from './row-writer.ts';
import { createTable, qualified, tableName, type TableRow, type TableShape } from './table.ts';

/** The table that holds a reaction's state. A reaction without state has none. */
export class ReactionState {
  readonly #shape: TableShape | undefined;
  readonly #reaction: string;
  readonly #version: number;
  readonly #name: string;
  readonly #table: string;
  readonly #writer: RowWriter | undefined;

  constructor(reaction: AnyReaction) {
    const { name, state } = reaction;
    this.#reaction = name;
    this.#version = versionOf(reaction);
    this.#name = `${name.replaceAll('-', '_')}_state`;
    this.#table = tableName(this.#name, this.#version, 1);
    if (!state) return;
    this.#shape = { name: this.#name, columns: state.columns, key: state.key, indexes: [] };
    this.#writer = new RowWriter(this.#shape, this.#table);
  }

  /** True if the reaction has state. */
  get isKept(): boolean {
    return this.#shape !== undefined;
  }

  async create(client: pg.PoolClient): Promise<void> {
    if (this.#shape) await client.query(createTable(this.#shape, this.#table));
  }

  /** Deletes the state of all tenants. */
  async clear(client: pg.PoolClient): Promise<void> {
    if (this.#shape) await client.query(`delete from ${qualified('public', this.#table)}`);
  }

  /** Drops the tables of retired versions: they are no longer maintained, so an erasure would not reach them. */
  async dropRetired(pool: pg.Pool, checkpoints: Pick<Checkpoints, 'reactionVersions'>): Promise<void> {
    const versions = await checkpoints.reactionVersions(this.#reaction);
    for (const { version } of versions.filter((one) => one.version < this.#version && one.state === 'retired'))
      await pool.query(`drop table if exists ${qualified('public', tableName(this.#name, version, 1))}`);
  }

  async load(pool: pg.Pool, keys: readonly TableRow[]): Promise<TableRow[]> {
    return keys.length > 0 && this.#writer ? this.#writer.load(pool, keys) : [];
  }

  async save(client: pg.PoolClient, works: readonly WorkingSet[]): Promise<void> {
    if (!this.#writer || works.every(({ isClean }) => isClean)) return;
    await this.#writer.prepare(client);
    const changes = works.map((work) => work.changes());
    const statements = this.#writer.changes({
      purged: changes.flatMap(({ purged }) => purged),
      removals: changes.flatMap(({ removals }) => removals),
      upserts: changes.flatMap(({ upserts }) => upserts),
    });
    await settleAll(statements.map((statement) => client.query(statement)));
  }
}
