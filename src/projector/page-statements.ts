import { statementName } from '../database/statement-name.ts';
import { advanceCursors } from './cursors.ts';
import type { Upsert } from './row-writer.ts';

interface Statement {
  readonly name: string;
  readonly text: string;
}

/**
 * Combinations of tables that get a plan of their own. Events of one kind concern the same read models, so that these come again
 * and again; those of many events at once hardly do.
 */
const MOST_PLANS = 200;

/**
 * The rows of a page and the move of its checkpoints as one statement, which is a transaction by itself: the database wakes up once, plans
 * nothing, and answers once.
 */
export class PageStatements {
  readonly #known = new Map<string, Statement>();

  /** Its values: the rows of each, then those of `advanceCursors`. Undefined for a combination of which there are too many. */
  of(upserts: readonly Upsert[]): Statement | undefined {
    const combination = upserts.map(({ table }) => table).join(' ');
    const known = this.#known.get(combination);
    if (known || this.#known.size >= MOST_PLANS) return known;
    const writes = upserts.map(({ text }, index) => `w${index + 1} as (${text(index + 1)})`);
    const text = `${writes.length > 0 ? `with ${writes.join(', ')} ` : ''}select ${advanceCursors(upserts.length + 1)}`;
    const statement = { name: statementName(text), text };
    this.#known.set(combination, statement);
    return statement;
  }
}
