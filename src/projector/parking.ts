import type pg from 'pg';
import type { Recorded } from '../kernel/event.ts';
import type { Cursor } from './cursors.ts';

export interface ParkedStream {
  readonly name: string;
  readonly stream: string;
  readonly events: number;
  readonly error: string;
}

/** No text column takes a NUL, and a message that quotes the poison may hold one. */
const printable = (error: string) => error.replaceAll('\u0000', '\\0').slice(0, 2_000);

/**
 * Streams that a read model could not fold. Once an event is parked, everything later of its stream is parked behind it,
 * in order, so that no row is folded with a hole in its history; the rest flows on.
 */
export class Parking {
  readonly #pool: pg.Pool;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  /** The streams that these cursors do without; those that do without none are not named. */
  async streamsOf(cursors: readonly Cursor[]): Promise<ReadonlyMap<Cursor, readonly string[]>> {
    const { rows } = await this.#pool.query<Pick<Cursor, 'name' | 'version' | 'generation'> & { streams: string[] }>(
      `select name, version, generation, array_agg(distinct stream) as streams from parked_events where name = any($1)
        group by name, version, generation`,
      [cursors.map(({ name }) => name)],
    );
    const parked = new Map<Cursor, readonly string[]>();
    for (const { name, version, generation, streams } of rows) {
      const cursor = cursors.find((one) => one.name === name && one.version === version && one.generation === generation);
      if (cursor) parked.set(cursor, streams);
    }
    return parked;
  }

  async park(client: pg.PoolClient, { name, version, generation }: Cursor, event: Recorded, error: string): Promise<void> {
    await client.query(
      `insert into parked_events (name, version, generation, stream, position, tenant_id, error)
       values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`,
      [name, version, generation, event.stream, String(event.position), event.tenantId, printable(error)],
    );
  }

  /** Everything that waits, by read model and stream, with what its first event failed with. */
  async list(): Promise<ParkedStream[]> {
    const { rows } = await this.#pool.query<ParkedStream>(
      `select name, stream, count(*)::int as events, (array_agg(error order by position))[1] as error from parked_events group by name, stream order by name, stream`,
    );
    return rows;
  }

  /** Asks the holder of the lease to fold the parked streams of a model again. */
  async askRetry(name: string): Promise<number> {
    const { rowCount } = await this.#pool.query('update parked_events set retry_asked = true where name = $1', [name]);
    return rowCount ?? 0;
  }

  /**
   * Positions to fold again, in order; empty when nobody asked. A stream is asked for as a whole: what was parked behind it
   * since the operator asked must come along.
   */
  async retriesOf({ name, version, generation }: Cursor): Promise<{ stream: string; position: bigint }[]> {
    const { rows } = await this.#pool.query<{ stream: string; position: string }>(
      `select stream, position::text from parked_events
        where name = $1 and version = $2 and generation = $3
          and stream in (select stream from parked_events where name = $1 and version = $2 and generation = $3 and retry_asked)
        order by parked_events.position`,
      [name, version, generation],
    );
    return rows.map(({ stream, position }) => ({ stream, position: BigInt(position) }));
  }

  async unpark(client: pg.PoolClient, { name, version, generation }: Cursor, stream: string): Promise<void> {
    await client.query(
      'delete from parked_events where name = $1 and version = $2 and generation = $3 and stream = $4',
      [name, version, generation, stream],
    );
  }

  async keepParked({ name, version, generation }: Cursor, stream: string, error: string): Promise<void> {
    await this.#pool.query(
      `update parked_events set retry_asked = false, error = $5
        where name = $1 and version = $2 and generation = $3 and stream = $4`,
      [name, version, generation, stream, printable(error)],
    );
  }
}
