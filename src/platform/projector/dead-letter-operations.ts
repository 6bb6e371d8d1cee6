import type pg from 'pg';
import type { Position } from '../kernel/event.ts';
import type { TenantId } from '../kernel/ids.ts';

export interface DeadLetterStream {
  readonly name: string;
  readonly stream: string;
  readonly events: number;
  readonly error: string;
}

/** The parked events of one stream, by reference. */
export interface DeadLetterSummary {
  readonly tenantId: TenantId;
  readonly stream: string;
  readonly events: number;
  readonly first: Position;
  readonly last: Position;
  /** Empty for events that were parked before types were recorded. */
  readonly eventTypes: readonly string[];
}

/** Walks the index from one value to the next, so that a stream with a million parked events costs one step. */
const STREAMS = `with recursive parked as (
    (select name, version, generation, stream from parked_events order by name, version, generation, stream limit 1)
    union all
    select next.* from parked p cross join lateral (
      select n.name, n.version, n.generation, n.stream from parked_events n
       where (n.name, n.version, n.generation, n.stream) > (p.name, p.version, p.generation, p.stream)
       order by n.name, n.version, n.generation, n.stream limit 1) next)`;
const NAMES = `with recursive parked as (
    (select name from parked_events order by name limit 1)
    union all
    select next.name from parked p cross join lateral (select n.name from parked_events n where n.name > p.name order by n.name limit 1) next)`;

/** What operators see of parked streams, and what they ask the holders of the leases to do with them. */
export class DeadLetterOperations {
  readonly #pool: pg.Pool;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  /** Names of read models and reactions with parked streams. */
  async names(): Promise<string[]> {
    const { rows } = await this.#pool.query<{ name: string }>(`${NAMES} select name from parked order by name`);
    return rows.map(({ name }) => name);
  }

  /** The number of parked streams of each name. */
  async counts(): Promise<ReadonlyMap<string, number>> {
    const { rows } = await this.#pool.query<{ name: string; streams: number }>(
      `${STREAMS} select name, count(*)::int as streams from parked group by name`,
    );
    return new Map(rows.map(({ name, streams }) => [name, streams]));
  }

  /** The parked events under this name, by stream; of one stream only, if `stream` is given. */
  async summary(name: string, stream?: string): Promise<DeadLetterSummary[]> {
    const { rows } = await this.#pool.query<{
      tenant_id: TenantId;
      stream: string;
      events: number;
      first: string;
      last: string;
      types: string[] | null;
    }>(
      `select tenant_id, stream, count(*)::int as events, min(position)::text as first, max(position)::text as last,
              array_agg(distinct type) filter (where type is not null) as types
         from parked_events where name = $1 and ($2::text is null or stream = $2) group by tenant_id, stream order by tenant_id, stream`,
      [name, stream ?? null],
    );
    return rows.map(({ tenant_id, stream: parked, events, first, last, types }) => ({
      tenantId: tenant_id,
      stream: parked,
      events,
      first: BigInt(first),
      last: BigInt(last),
      eventTypes: types ?? [],
    }));
  }

  /** Asks the holder of the lease to release a stream's parked events up to a position, and to go on after them. */
  async askSkip(name: string, stream: string, upTo: Position): Promise<number> {
    const { rowCount } = await this.#pool.query(
      'update parked_events set skip_asked = true where name = $1 and stream = $2 and position <= $3',
      [name, stream, String(upTo)],
    );
    return rowCount ?? 0;
  }

  /** All parked streams, by name, with the error of their first event. */
  async list(): Promise<DeadLetterStream[]> {
    const { rows } = await this.#pool.query<DeadLetterStream>(
      `select name, stream, count(*)::int as events, (array_agg(error order by position))[1] as error from parked_events group by name, stream order by name, stream`,
    );
    return rows;
  }

  /** Asks the holder of the lease to work the parked streams of a read model or reaction again, or one of them. */
  async askRetry(name: string, stream?: string): Promise<number> {
    const { rowCount } = await this.#pool.query(
      'update parked_events set retry_asked = true where name = $1 and ($2::text is null or stream = $2)',
      [name, stream ?? null],
    );
    return rowCount ?? 0;
  }
}
