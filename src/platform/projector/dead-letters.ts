import type pg from 'pg';
import type { Position, RecordedEvent } from '../kernel/event.ts';
import type { TenantId } from '../kernel/ids.ts';
import { isSameCheckpoint } from './checkpoint-move.ts';
import type { Checkpoint } from './checkpoints.ts';

type Key = Pick<Checkpoint, 'name' | 'version' | 'generation'>;

/** A PostgreSQL text column cannot hold NUL, and a message that quotes the event may contain one. */
const printable = (error: string) => error.replaceAll('\u0000', '\\0').slice(0, 2_000);

/**
 * Streams that a read model could not fold, or on which a reaction could not act. Once an event is parked, all later
 * events of its stream are parked behind it, in order, so that no row is folded from a history with gaps. Other
 * streams go on. Events stay in the log and are parked by reference.
 */
export class DeadLetters {
  readonly #pool: pg.Pool;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  /** The parked streams of each cursor. Cursors without any are left out. */
  async streamsOf(cursors: readonly Checkpoint[]): Promise<ReadonlyMap<Checkpoint, readonly string[]>> {
    const { rows } = await this.#pool.query<
      Pick<Checkpoint, 'name' | 'version' | 'generation'> & { streams: string[] }
    >(
      `select name, version, generation, array_agg(distinct stream) as streams from parked_events where name = any($1)
        group by name, version, generation`,
      [cursors.map(({ name }) => name)],
    );
    const parked = new Map<Checkpoint, readonly string[]>();
    for (const { name, version, generation, streams } of rows) {
      const checkpoint = cursors.find(
        (one) => one.name === name && one.version === version && one.generation === generation,
      );
      if (checkpoint) parked.set(checkpoint, streams);
    }
    return parked;
  }

  async park(
    client: pg.PoolClient,
    { name, version, generation }: Checkpoint,
    event: RecordedEvent,
    error: string,
  ): Promise<void> {
    await client.query(
      `insert into parked_events (name, version, generation, stream, position, tenant_id, error)
       values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`,
      [name, version, generation, event.stream, String(event.position), event.tenantId, printable(error)],
    );
  }

  /** The streams that any version of a read model has parked. */
  async streamsNamed(name: string): Promise<ReadonlySet<string>> {
    const { rows } = await this.#pool.query<{ stream: string }>(
      'select distinct stream from parked_events where name = $1',
      [name],
    );
    return new Set(rows.map(({ stream }) => stream));
  }

  /** Parks events of a reaction, or of a replay. Those without an error wait behind one that has one. */
  async parkAll(
    client: pg.PoolClient,
    { name, version, generation }: Key,
    parked: readonly { readonly event: RecordedEvent; readonly error?: string }[],
  ): Promise<void> {
    const rows = parked.map(({ event, error }) => ({
      stream: event.stream,
      position: String(event.position),
      tenant_id: event.tenantId,
      type: event.type,
      error: error === undefined ? null : printable(error),
    }));
    await client.query(
      `insert into parked_events (name, version, generation, stream, position, tenant_id, type, error)
       select $1, $2, $3, p.stream, p.position, p.tenant_id, p.type, p.error
         from json_to_recordset($4::json) as p(stream text, position bigint, tenant_id uuid, type text, error text)
       on conflict do nothing`,
      [name, version, generation, JSON.stringify(rows)],
    );
  }

  /** The first parked position of each stream. */
  async firsts({ name, version, generation }: Key): Promise<Map<string, Position>> {
    const { rows } = await this.#pool.query<{ stream: string; first: string }>(
      `select stream, min(position)::text as first from parked_events
        where name = $1 and version = $2 and generation = $3 group by stream`,
      [name, version, generation],
    );
    return new Map(rows.map(({ stream, first }) => [stream, BigInt(first)]));
  }

  /** For each of these cursors, whether anything is parked. */
  async haveAny(cursors: readonly Key[]): Promise<boolean[]> {
    const { rows } = await this.#pool.query<Key>(
      `select k.* from json_to_recordset($1::json) as k(name text, version int, generation int)
        where exists (select from parked_events p where p.name = k.name and p.version = k.version and p.generation = k.generation)`,
      [JSON.stringify(cursors.map(({ name, version, generation }) => ({ name, version, generation })))],
    );
    return cursors.map((cursor) => rows.some((row) => isSameCheckpoint(row, cursor)));
  }

  async hasAny({ name, version, generation }: Key): Promise<boolean> {
    const { rowCount } = await this.#pool.query(
      'select from parked_events where name = $1 and version = $2 and generation = $3 limit 1',
      [name, version, generation],
    );
    return rowCount === 1;
  }

  /** Returns those of these streams that are parked. */
  async among({ name, version, generation }: Key, streams: readonly string[]): Promise<ReadonlySet<string>> {
    const { rows } = await this.#pool.query<{ stream: string }>(
      `select s.stream from unnest($4::text[]) as s(stream)
        where exists (select from parked_events p where p.name = $1 and p.version = $2 and p.generation = $3 and p.stream = s.stream)`,
      [name, version, generation, [...new Set(streams)]],
    );
    return new Set(rows.map(({ stream }) => stream));
  }

  /** Tenants with an operator's request for their parked streams. */
  async askedTenants({ name, version, generation }: Key): Promise<TenantId[]> {
    const { rows } = await this.#pool.query<{ tenant_id: TenantId }>(
      'select distinct tenant_id from parked_events where name = $1 and version = $2 and generation = $3 and (retry_asked or skip_asked)',
      [name, version, generation],
    );
    return rows.map(({ tenant_id }) => tenant_id);
  }

  /** The first of the tenant's parked streams with an operator's request. */
  async askedStream({ name, version, generation }: Key, tenantId: TenantId): Promise<string | undefined> {
    const { rows } = await this.#pool.query<{ stream: string }>(
      `select stream from parked_events where name = $1 and version = $2 and generation = $3 and tenant_id = $4 and (retry_asked or skip_asked)
        order by position limit 1`,
      [name, version, generation, tenantId],
    );
    return rows[0]?.stream;
  }

  /** The first parked events of a stream, in order. */
  async firstOf(
    { name, version, generation }: Key,
    stream: string,
    limit: number,
  ): Promise<{ position: Position; isSkipped: boolean }[]> {
    const { rows } = await this.#pool.query<{ position: string; skip_asked: boolean }>(
      `select position::text, skip_asked from parked_events where name = $1 and version = $2 and generation = $3 and stream = $4
        order by parked_events.position limit $5`,
      [name, version, generation, stream, limit],
    );
    return rows.map(({ position, skip_asked }) => ({ position: BigInt(position), isSkipped: skip_asked }));
  }

  /** Releases a stream's parked events up to a position. The remaining ones are to be worked next. */
  async release(
    client: pg.PoolClient,
    { name, version, generation }: Key,
    stream: string,
    upTo: Position,
  ): Promise<void> {
    const key = [name, version, generation, stream];
    await client.query(
      'delete from parked_events where name = $1 and version = $2 and generation = $3 and stream = $4 and position <= $5',
      [...key, String(upTo)],
    );
    await client.query(
      `update parked_events set retry_asked = true where name = $1 and version = $2 and generation = $3 and position =
         (select position from parked_events where name = $1 and version = $2 and generation = $3 and stream = $4 order by position limit 1)`,
      key,
    );
  }

  /** Releases a stream's parked events before a position. The stream stays parked there, for this reason. */
  async keepFrom(
    client: pg.PoolClient,
    { name, version, generation }: Key,
    stream: string,
    from: Position,
    error: string,
  ): Promise<void> {
    const key = [name, version, generation, stream];
    await client.query(
      'delete from parked_events where name = $1 and version = $2 and generation = $3 and stream = $4 and position < $5',
      [...key, String(from)],
    );
    await client.query(
      `update parked_events set retry_asked = false, error = case when position = $5 then $6 else error end
        where name = $1 and version = $2 and generation = $3 and stream = $4 and (retry_asked or position = $5)`,
      [...key, String(from), printable(error)],
    );
  }

  /**
   * Positions to fold again, in order; empty without a request. A request covers the whole stream: events parked
   * behind it since the request must be folded too.
   */
  async retriesOf({ name, version, generation }: Checkpoint): Promise<{ stream: string; position: bigint }[]> {
    const { rows } = await this.#pool.query<{ stream: string; position: string }>(
      `select stream, position::text from parked_events
        where name = $1 and version = $2 and generation = $3
          and stream in (select stream from parked_events where name = $1 and version = $2 and generation = $3 and retry_asked)
        order by parked_events.position`,
      [name, version, generation],
    );
    return rows.map(({ stream, position }) => ({ stream, position: BigInt(position) }));
  }

  async unpark(client: pg.PoolClient, { name, version, generation }: Checkpoint, stream: string): Promise<void> {
    await client.query(
      'delete from parked_events where name = $1 and version = $2 and generation = $3 and stream = $4',
      [name, version, generation, stream],
    );
  }

  async keepParked({ name, version, generation }: Checkpoint, stream: string, error: string): Promise<void> {
    await this.#pool.query(
      `update parked_events set retry_asked = false, error = $5
        where name = $1 and version = $2 and generation = $3 and stream = $4`,
      [name, version, generation, stream, printable(error)],
    );
  }
}
