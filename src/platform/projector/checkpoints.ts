import type pg from 'pg';
import { transaction } from '../database/transaction.ts';
import { KeyedMutex } from '../execution/keyed-mutex.ts';
import { CHECKPOINT_LEASE_SECONDS, movesAsJson, type Checkpoint, type CheckpointMove } from './checkpoint-move.ts';
import { CHECKPOINT_COLUMNS, checkpointOf, type CheckpointRow } from './checkpoint-row.ts';
import { LeaseAcquisitions, type Wanted } from './lease-acquisitions.ts';
import { CheckpointLookups, type OtherVersion } from './checkpoint-lookups.ts';
import { LeaseRenewals } from './lease-renewals.ts';

export type { Checkpoint, CheckpointMove } from './checkpoint-move.ts';

/**
 * Another process holds the lease, an operator changed the checkpoint, or the database lost its last commits in a
 * crash. The checkpoint is not where this holder left it, so its work must not commit.
 */
export class LeaseLost extends Error {
  constructor() {
    super('the lease on a checkpoint was lost, or the checkpoint was moved');
    this.name = 'LeaseLost';
  }
}

/**
 * Returns a statement that runs these writes as CTEs, moves checkpoints and renews their leases: all of it or nothing
 * (`migrations/base/07_projections.sql`). Its own two parameters are numbered `place` and `place + 1`.
 *
 * A checkpoint moves by compare-and-set on the holder's epoch and on the position that was last saved. Commits do not
 * wait for the disk, so a crash of the database can undo the newest ones although the holder saw no error. The epoch
 * does not show that; the position does.
 */
export const advancingStatement = (place: number, writes: readonly string[] = []): string => `
  with ${writes.map((write) => `${write}, `).join('')}moved as (
    update cursors c set position = m.position, leased_until = now() + make_interval(secs => $${place + 1}), updated_at = now()
      from json_to_recordset($${place}::json) as m(name text, version int, generation int, epoch bigint, state text, came_from bigint, position bigint)
     where c.name = m.name and c.version = m.version and c.generation = m.generation and c.epoch = m.epoch and c.state = m.state
       and c.position = m.came_from
    returning 1)
  select case when (select count(*) from moved) <> json_array_length($${place}::json) then lease_lost() end`;

const ADVANCE = advancingStatement(1);

const CONFIRM = `
  select from cursors
   where name = $1 and version = $2 and generation = $3 and epoch = $4 and state = $5 and position = $6`;

/** SQLSTATE that `lease_lost` raises. */
const LEASE_LOST = 'CA001';

/**
 * The table `cursors`: leases with fencing epochs, and checkpoints that only the holder of the current epoch can
 * move. A process starts dozens of reactions in one turn of the event loop: what each of them asks shares a statement.
 */
export class Checkpoints {
  readonly #pool: pg.Pool;
  readonly owner: string;
  readonly #acquisitions: LeaseAcquisitions;
  readonly #renewals: LeaseRenewals;
  readonly #lookups: CheckpointLookups;
  /** One at a time: they take the same lock, and each waits with a connection. */
  readonly #creations = new KeyedMutex();

  constructor(pool: pg.Pool, owner: string) {
    this.#pool = pool;
    this.#acquisitions = new LeaseAcquisitions(pool, owner);
    this.#renewals = new LeaseRenewals(pool);
    this.#lookups = new CheckpointLookups(pool);
    this.owner = owner;
  }

  async all(): Promise<Checkpoint[]> {
    const { rows } = await this.#pool.query<CheckpointRow>(
      `select ${CHECKPOINT_COLUMNS} from cursors order by name, version, generation`,
    );
    return rows.map(checkpointOf);
  }

  /** Every version of a reaction that has, or had, a cursor. */
  async reactionVersions(name: string): Promise<readonly OtherVersion[]> {
    return this.#lookups.reactionVersions(name);
  }

  /**
   * Creates a cursor if there is none. `prepare` runs in the same transaction, and only if the cursor was created
   * here.
   */
  async ensure(
    cursor: Pick<Checkpoint, 'name' | 'version' | 'generation' | 'lane' | 'kind' | 'state' | 'position'>,
    prepare: (client: pg.PoolClient) => Promise<void>,
  ): Promise<boolean> {
    if (await this.#lookups.exists(cursor)) return false;
    return this.#creations.run('cursors', () => this.#create(cursor, prepare));
  }

  async #create(...[cursor, prepare]: Parameters<Checkpoints['ensure']>): Promise<boolean> {
    return transaction(this.#pool, async (client) => {
      await client.query(`select pg_advisory_xact_lock(hashtextextended('castellan/cursors', 0))`);
      const { rowCount } = await client.query(
        `insert into cursors (name, version, generation, lane, kind, state, position, filled_from)
         values ($1, $2, $3, $4, $5, $6, $7, $7) on conflict do nothing`,
        [
          cursor.name,
          cursor.version,
          cursor.generation,
          cursor.lane,
          cursor.kind,
          cursor.state,
          String(cursor.position),
        ],
      );
      if (rowCount === 1) await prepare(client);
      return rowCount === 1;
    });
  }

  /**
   * Acquires the free leases of these cursors, each with a raised epoch. With `seize`, acquires all of them: for the
   * only process on a data directory. Returns the cursors acquired.
   */
  async acquire(
    keys: readonly Wanted[],
    states: readonly Checkpoint['state'][],
    seize: boolean,
  ): Promise<Checkpoint[]> {
    return this.#acquisitions.acquire(keys, states, seize);
  }

  /**
   * Moves checkpoints inside the caller's transaction. Throws `LeaseLost` unless all of them are still held and at
   * their saved position.
   */
  advance(client: Pick<pg.PoolClient, 'query'>, moved: readonly CheckpointMove[]): Promise<void> {
    return this.advanceWith(client, moved, { name: 'advance-cursors', text: ADVANCE, values: [] });
  }

  /**
   * Like `advance`, with a statement that also writes: one of `advancingStatement`, whose parameters come after those
   * in `values`.
   */
  async advanceWith(
    client: Pick<pg.PoolClient, 'query'>,
    moved: readonly CheckpointMove[],
    { name, text, values }: { name: string; text: string; values: readonly unknown[] },
  ): Promise<void> {
    await client
      .query({ name, text, values: [...values, movesAsJson(moved), CHECKPOINT_LEASE_SECONDS] })
      .catch((error: { code?: string }) => {
        throw error.code === LEASE_LOST ? new LeaseLost() : error;
      });
  }

  /**
   * Renews leases and saves how far their holders have come. Throws `LeaseLost` unless all of `held` are still held and at
   * their saved position.
   */
  async renew(held: readonly CheckpointMove[]): Promise<void> {
    const renewed = await Promise.all(held.map((move) => this.#renewals.renew(move)));
    if (renewed.includes(false)) throw new LeaseLost();
  }

  /**
   * Throws `LeaseLost` unless this checkpoint is still held and at its saved position. Nothing that was read before this
   * call was then written by another holder.
   */
  async confirm({ name, version, generation, epoch, state, position }: Checkpoint): Promise<void> {
    const values = [name, version, generation, String(epoch), state, String(position)];
    const { rowCount } = await this.#pool.query({ name: 'confirm-cursor', text: CONFIRM, values });
    if (rowCount !== 1) throw new LeaseLost();
  }

  async setState(checkpoint: Checkpoint, state: Checkpoint['state'], failure: string | null = null): Promise<void> {
    await this.#pool.query(
      'update cursors set state = $4, failure = $5 where name = $1 and version = $2 and generation = $3',
      [checkpoint.name, checkpoint.version, checkpoint.generation, state, failure],
    );
  }

  /**
   * Records why the holder cannot go on, or clears the reason. Does nothing if another process holds the lease by
   * now.
   */
  async blame(cursor: Checkpoint, failure: string | null): Promise<void> {
    await this.#pool.query(
      'update cursors set failure = $5 where name = $1 and version = $2 and generation = $3 and epoch = $4',
      [cursor.name, cursor.version, cursor.generation, String(cursor.epoch), failure],
    );
  }

  /** Retires a version that is not served yet, if it is still held. */
  async abandon({ name, version, generation, epoch }: Checkpoint): Promise<void> {
    await this.#pool.query(
      `update cursors set state = 'retired', epoch = epoch + 1, leased_until = '-infinity'
        where name = $1 and version = $2 and generation = $3 and epoch = $4 and state = 'filling'`,
      [name, version, generation, String(epoch)],
    );
  }

  /** Retires unfinished rebuilds of a served version that no process fills: they failed, or were killed. */
  async retireLeftovers({ name, version }: Pick<Checkpoint, 'name' | 'version'>): Promise<void> {
    await this.#pool.query(
      `update cursors set state = 'retired', epoch = epoch + 1, leased_until = '-infinity'
        where name = $1 and version = $2 and kind = 'model' and state = 'filling' and leased_until < now()
          and exists (select from cursors served where served.name = $1 and served.version = $2 and served.state = 'live')`,
      [name, version],
    );
  }

  /** Names of live cursors, and of reactions that fold their history, with a recorded failure. */
  async stuck(): Promise<string[]> {
    const { rows } = await this.#pool.query<{ name: string }>(
      `select name from cursors where (state = 'live' or (state = 'filling' and kind = 'reaction')) and failure is not null order by name`,
    );
    return rows.map(({ name }) => name);
  }

  /** Releases leases, so that another process need not wait for them to expire. */
  async release(held: readonly Checkpoint[]): Promise<void> {
    return this.#acquisitions.release(held);
  }
}
