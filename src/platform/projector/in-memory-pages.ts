import type pg from 'pg';
import { statementName } from '../database/statement-name.ts';
import { settleAll, transaction } from '../database/transaction.ts';
import type { Position } from '../kernel/event.ts';
import { advancingStatement, type Checkpoints, type CheckpointMove } from './checkpoints.ts';
import type { EventSteps } from './working-set.ts';
import type { MemberEvents } from './lane-member.ts';
import { statementOf, type TableChanges, type Upsert } from './row-writer.ts';

interface Statement {
  readonly name: string;
  readonly text: string;
}

/**
 * Combinations of tables with a prepared statement of their own. Events of one kind concern the same read models, so
 * small pages repeat combinations; pages of many different events hardly do.
 */
const MAX_PLANS = 200;

/**
 * Gain: `npm run bench -- without pages-at-hand`: 1.07 (95 %: 0.95 to 1.20) for one client, 1.18 (0.97 to 1.40) at 32
 * while other work loads the machine, 1.01 (0.95 to 1.13) at 32 otherwise.
 *
 * Handles most pages: all rows that they touch are in memory, and nothing is parked. One statement writes the rows
 * and moves the checkpoints. It is a transaction by itself, so it costs one round trip and no planning.
 */
export class InMemoryPages {
  readonly #pool: pg.Pool;
  readonly #checkpoints: Checkpoints;
  readonly #plans = new Map<string, Statement>();
  readonly #mostPlans: number;

  constructor(
    { pool, checkpoints }: { readonly pool: pg.Pool; readonly checkpoints: Checkpoints },
    mostPlans = MAX_PLANS,
  ) {
    this.#pool = pool;
    this.#checkpoints = checkpoints;
    this.#mostPlans = mostPlans;
  }

  /** Returns false, without a write, if the page does not qualify. If it throws, memory is ahead of the tables. */
  async write(concerned: readonly MemberEvents[], to: Position): Promise<boolean> {
    const changes = foldInMemory(concerned);
    if (!changes) return false;
    const moved = concerned.map(({ member: { checkpoint, saved } }) => ({ checkpoint, from: saved, to }));
    const removals = changes.flatMap((of) => of.removals);
    const upserts = changes.flatMap((of) => of.upserts);
    const plan = removals.length === 0 ? this.#planOf(upserts) : undefined;
    if (plan)
      await this.#checkpoints.advanceWith(this.#pool, moved, { ...plan, values: upserts.map(({ rows }) => rows) });
    else await this.#oneByOne([...removals, ...upserts.map(statementOf)], moved);
    return true;
  }

  async #oneByOne(statements: readonly pg.QueryConfig[], moved: readonly CheckpointMove[]): Promise<void> {
    const send = (client: pg.PoolClient) =>
      settleAll([...statements.map((one) => client.query(one)), this.#checkpoints.advance(client, moved)]);
    await transaction(this.#pool, () => Promise.resolve(), send);
  }

  /**
   * The statement's values are the rows of each table, then those of `advancingStatement`. Undefined once there are
   * too many plans.
   */
  #planOf(upserts: readonly Upsert[]): Statement | undefined {
    const combination = upserts.map(({ table }) => table).join(' ');
    const known = this.#plans.get(combination);
    if (known || this.#plans.size >= this.#mostPlans) return known;
    const text = advancingStatement(
      upserts.length + 1,
      upserts.map(({ text }, index) => `w${index + 1} as (${text(index + 1)})`),
    );
    const plan = { name: statementName(text), text };
    this.#plans.set(combination, plan);
    return plan;
  }
}

/** Returns undefined, and folds nothing, if memory is not enough. */
function foldInMemory(concerned: readonly MemberEvents[]): TableChanges[] | undefined {
  if (concerned.some(({ member }) => member.parked.size > 0)) return undefined;
  const batches: EventSteps[][] = [];
  for (const { member, mine } of concerned) {
    const batch = member.projection.stepsInMemory(mine);
    if (!batch) return undefined;
    batches.push(batch);
  }
  const changes: TableChanges[] = [];
  for (const [index, { member }] of concerned.entries()) {
    const folded = member.projection.foldInMemory(batches[index]!);
    if (folded) changes.push(folded);
    else {
      // The stepwise path finds out what failed. Memory is ahead of the tables, so drop it.
      for (const {
        member: { projection },
      } of concerned)
        projection.forget();
      return undefined;
    }
  }
  return changes;
}
