import type pg from 'pg';
import type { AnyReaction } from '../kernel/reaction.ts';
import { settleAll } from '../database/transaction.ts';
import type { WorkSet } from './fold-batch.ts';
import { RowWriter } from './row-writer.ts';
import { createTable, qualified, tableName, type TableRow, type TableShape } from './table.ts';

/** The table in which a reaction keeps what it remembers; for a reaction without state, nothing. */
export class ReactionState {
  readonly #shape: TableShape | undefined;
  readonly #table: string = '';
  readonly #writer: RowWriter | undefined;

  constructor({ name: reaction, state }: AnyReaction) {
    if (!state) return;
    const name = `${reaction.replaceAll('-', '_')}_state`;
    this.#shape = { name, columns: state.columns, key: state.key, indexes: [] };
    this.#table = tableName(name, state.version, 1);
    this.#writer = new RowWriter(this.#shape, this.#table);
  }

  async create(client: pg.PoolClient): Promise<void> {
    if (this.#shape) await client.query(createTable(this.#shape, this.#table));
  }

  /** Forgets everything, of every tenant. */
  async clear(client: pg.PoolClient): Promise<void> {
    if (this.#shape) await client.query(`delete from ${qualified('public', this.#table)}`);
  }

  async load(pool: pg.Pool, keys: readonly TableRow[]): Promise<TableRow[]> {
    return keys.length > 0 && this.#writer ? this.#writer.load(pool, keys) : [];
  }

  async save(client: pg.PoolClient, works: readonly WorkSet[]): Promise<void> {
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
