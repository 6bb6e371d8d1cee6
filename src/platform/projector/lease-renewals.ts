import type pg from 'pg';
import { Batcher } from '../database/batcher.ts';
import { CHECKPOINT_LEASE_SECONDS, movesAsJson, type Checkpoint, type CheckpointMove } from './checkpoint-move.ts';

/** Locks in one order, so that statements of several processes do not block each other for good. */
const RENEW = `
  with held as (
    select c.name, c.version, c.generation, m.position
      from cursors c
      join json_to_recordset($1::json) as m(name text, version int, generation int, epoch bigint, state text, came_from bigint, position bigint)
        on c.name = m.name and c.version = m.version and c.generation = m.generation and c.epoch = m.epoch and c.state = m.state
       and c.position = m.came_from
     order by 1, 2, 3 for update of c)
  update cursors c set position = h.position, leased_until = now() + make_interval(secs => $2), updated_at = now()
    from held h
   where c.name = h.name and c.version = h.version and c.generation = h.generation
  returning c.name, c.version, c.generation`;

type Key = Pick<Checkpoint, 'name' | 'version' | 'generation'>;
const textOf = ({ name, version, generation }: Key): string => `${name} ${version} ${generation}`;

/** Renewals of leases. A process holds dozens: those of one turn of the event loop share a statement. */
export class LeaseRenewals {
  readonly #pool: pg.Pool;
  readonly #batches = new Batcher((_: 'all', held: readonly CheckpointMove[]) => this.#renewAll(held));

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  /** False if the lease is no longer held, or the checkpoint is not where its holder left it. */
  renew(held: CheckpointMove): Promise<boolean> {
    return this.#batches.load('all', held);
  }

  async #renewAll(held: readonly CheckpointMove[]): Promise<boolean[]> {
    const values = [movesAsJson(held), CHECKPOINT_LEASE_SECONDS];
    const { rows } = await this.#pool.query<Key>({ name: 'renew-cursors', text: RENEW, values });
    const renewed = new Set(rows.map(textOf));
    return held.map(({ checkpoint }) => renewed.has(textOf(checkpoint)));
  }
}
