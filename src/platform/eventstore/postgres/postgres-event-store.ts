import type pg from 'pg';
import { TooBusy, type FairLimiter } from '../../fairness/fair-limiter.ts';
import { maintenanceQuery } from '../../database/time-limits.ts';
import { storeShares } from '../../database/pool-shares.ts';
import { streamTenant } from '../../kernel/aggregate.ts';
import type { DatabaseConfig } from '../../database/logins.ts';
import type { Position } from '../../kernel/event.ts';
import type { TenantId } from '../../kernel/ids.ts';
import {
  EventStoreUnavailable,
  type Append,
  type ClaimKey,
  type EventStore,
  type LogAddress,
  type AllStreamFilter,
  type AppendNotification,
  type AllStreamPage,
  type StoredEvent,
  type StreamPart,
  type AppendResult,
} from '../port.ts';
import { ClaimLookup } from './claim-lookup.ts';
import { AppendAnnouncer } from './append-announcer.ts';
import { GroupCommit } from './group-commit.ts';
import { AppendListener } from './append-listener.ts';
import { PACKED, UnpackedEvent, type PackedRow } from './packed-rows.ts';
import { storedEvent, type EventRow } from './rows.ts';

/** Events that one statement changes: keeps the transaction short, so that appends can proceed. */
const ANONYMIZED_AT_ONCE = 500;

// `order by` needs the qualified column: the bare name means the text output column, which would sort 10 before 9.
const READ_STREAM = `
  select position::text, tenant_id, stream, revision::text, id, type, version, recorded_at, metadata, data
    from events where stream = $1 and revision >= $2 and type <> '$trimmed' order by events.revision limit $3`;
// A lateral join reads each stream through its index, however many there are.
const READ_STREAMS = `
  select position::text, tenant_id, e.stream, revision::text, id, type, version, recorded_at, metadata, data
    from unnest($1::text[], $2::bigint[]) as asked(stream, first_revision)
   cross join lateral (
     select * from events s where s.stream = asked.stream and s.revision >= asked.first_revision and s.type <> '$trimmed'
      order by s.revision) e`;
/** Streams that one statement reads. */
const STREAMS_AT_ONCE = 256;
const READ_TAIL = `
  select position::text, tenant_id, stream, revision::text, id, type, version, recorded_at, metadata, data
    from events where stream = $1 and type <> '$trimmed' order by events.revision desc limit $2`;
const READ_FEED = `
  select ${PACKED}, data::text as text
    from events where position > $1 order by position limit $2`;

const READ_AT = `select ${PACKED}, data::text as text from events where position = $1`;

const ID_AT = 'select id from events where position = $1';

// An audit chain has hundreds of types. In a generic plan `= any` compares each event with one after the other; a subquery
// is hashed. `or false` keeps the planner from making a join of it.
const READ_PART = `
  select ${PACKED}, data::text as text
    from events
   where position > $1 and tenant_id = $3 and (type in (select unnest($4::text[])) or false) order by position limit $2`;

/** Generous, because no caller waits for trimming. */
const TRIM_MS = 120_000;

/** The limiter key for reads of the whole log by this process. They get the same share as a tenant. */
const ALL_TENANTS = 'everybody';

/** The default store: one table, one SQL function call per group of appends (`migrations/base/03_appends.sql`). */
export class PostgresEventStore implements EventStore {
  readonly name = 'postgres';
  readonly gapless = true;
  readonly logAddress: LogAddress;
  readonly #pool: pg.Pool;
  readonly #group: GroupCommit;
  readonly #listener: AppendListener;
  readonly #announcer: AppendAnnouncer | undefined;
  readonly #claims: ClaimLookup;
  readonly #shares: FairLimiter;

  /** `announceWith` notifies followers in other processes of growth. Without it they find out by polling. */
  constructor(pool: pg.Pool, listenWith: DatabaseConfig, announceWith?: pg.Pool) {
    this.#pool = pool;
    this.logAddress = { kind: 'postgres', database: listenWith };
    this.#claims = new ClaimLookup(pool);
    this.#shares = storeShares(pool);
    this.#listener = new AppendListener(listenWith);
    this.#announcer = announceWith && new AppendAnnouncer(announceWith);
    this.#group = new GroupCommit(pool, (head, events) => {
      this.#listener.wakeWith(events);
      this.#announcer?.grown(head);
    });
  }

  async append(append: Append): Promise<AppendResult> {
    const verdict = await this.#group.append(append);
    if (verdict.kind === 'appended') return verdict;
    return (await this.#alreadyAppended(append)) ?? verdict;
  }

  /** The same event ids at the same revisions: this append already happened, and its response was lost. */
  async #alreadyAppended({ stream, expectedRevision, events }: Append): Promise<AppendResult | undefined> {
    if (events.length === 0) return undefined;
    const there = await this.readStream(stream, { from: expectedRevision + 1n, limit: events.length });
    const last = there.at(-1);
    const same = there.length === events.length && there.every((event, at) => event.id === events[at]?.id);
    return same && last
      ? { kind: 'appended', revision: last.revision, position: last.position, recordedAt: last.recordedAt }
      : undefined;
  }

  async readStream(stream: string, { from = 0n, limit = 1_000_000 } = {}): Promise<StoredEvent[]> {
    return this.#read(streamTenant(stream), 'read-stream', READ_STREAM, [stream, from.toString(), limit]);
  }

  async readStreams(asked: readonly StreamPart[]): Promise<readonly (readonly StoredEvent[])[]> {
    const found = new Map<string, StoredEvent[]>();
    for (let at = 0; at < asked.length; at += STREAMS_AT_ONCE) {
      const part = asked.slice(at, at + STREAMS_AT_ONCE);
      const values = [part.map(({ stream }) => stream), part.map(({ from }) => from.toString())];
      for (const event of await this.#read(streamTenant(part[0]!.stream), 'read-streams', READ_STREAMS, values)) {
        const events = found.get(event.stream);
        if (events) events.push(event);
        else found.set(event.stream, [event]);
      }
    }
    return asked.map(({ stream }) => found.get(stream) ?? []);
  }

  async readStreamTail(stream: string, limit: number): Promise<StoredEvent[]> {
    return (await this.#read(streamTenant(stream), 'read-tail', READ_TAIL, [stream, limit])).reverse();
  }

  async readAll(after: Position, limit: number, filter?: AllStreamFilter): Promise<AllStreamPage> {
    const events = filter
      ? await this.#readPacked(filter.tenantId, 'read-part', READ_PART, [
          after.toString(),
          limit,
          filter.tenantId,
          filter.types,
        ])
      : await this.#readPacked(ALL_TENANTS, 'read-feed', READ_FEED, [after.toString(), limit]);
    return { events, position: events.at(-1)?.position ?? after };
  }

  async head(): Promise<Position> {
    const { rows } = await this.#pool.query<{ head: string | null }>('select max(position)::text as head from events');
    return BigInt(rows[0]?.head ?? 0);
  }

  async eventAt(position: Position): Promise<StoredEvent | undefined> {
    return (await this.#readPacked(ALL_TENANTS, 'read-at', READ_AT, [position.toString()]))[0];
  }

  async idAt(position: Position): Promise<string | undefined> {
    return (await this.#rows<{ id: string }>(ALL_TENANTS, 'id-at', ID_AT, [position.toString()]))[0]?.id;
  }

  onGrowth(wake: (hint?: AppendNotification) => void): () => void {
    return this.#listener.subscribe(wake);
  }

  /** Uses the database's connections, whose loss `Database.onLost` reports. */
  onInterruption(): () => void {
    return () => undefined;
  }

  async claimHolder(claim: ClaimKey): Promise<string | undefined> {
    return (await this.claimHolders([claim]))[0];
  }

  async claimHolders(claims: readonly ClaimKey[]): Promise<readonly (string | undefined)[]> {
    try {
      return await Promise.all(claims.map((claim) => this.#claims.holder(claim)));
    } catch (cause) {
      throw new EventStoreUnavailable('the event store could not be read', { cause });
    }
  }

  async claimsHeldBy(stream: string): Promise<ClaimKey[]> {
    try {
      return await this.#claims.heldBy(stream);
    } catch (cause) {
      throw new EventStoreUnavailable('the event store could not be read', { cause });
    }
  }

  async setRetention(stream: string, maxAgeDays: number): Promise<void> {
    await this.#pool.query(
      `insert into stream_retention (stream, max_age_days) values ($1, $2)
       on conflict (stream) do update set max_age_days = excluded.max_age_days`,
      [stream, maxAgeDays],
    );
  }

  async trimExpired(most: number): Promise<number> {
    const { rows } = await maintenanceQuery<{ trimmed: number }>(
      this.#pool,
      TRIM_MS,
      'select trim_expired_events($1) as trimmed',
      [most],
    );
    return rows[0]!.trimmed;
  }

  async forgetTelemetryOf(tenantId: TenantId, personId: string): Promise<number> {
    const sql = 'select changed, reached from anonymize_telemetry($1, $2, $3, $4)';
    let total = 0;
    for (let after = '0'; ;) {
      const { rows } = await this.#pool.query<{ changed: number; reached: string | null }>(sql, [
        tenantId,
        personId,
        after,
        ANONYMIZED_AT_ONCE,
      ]);
      const { changed, reached } = rows[0]!;
      total += changed;
      if (reached === null) return total;
      after = reached;
    }
  }

  sweepClaims(): Promise<number> {
    return Promise.resolve(0);
  }

  async ping(): Promise<void> {
    await this.#pool.query('select 1');
  }

  async close(): Promise<void> {
    await this.#group.drain();
    await this.#announcer?.close();
    await this.#listener.close();
  }

  async #readPacked(key: string, name: string, text: string, values: unknown[]): Promise<StoredEvent[]> {
    return (await this.#rows<PackedRow>(key, name, text, values)).map((row) => new UnpackedEvent(row));
  }

  async #read(key: string, name: string, text: string, values: unknown[]): Promise<StoredEvent[]> {
    return (await this.#rows<EventRow>(key, name, text, values)).map(storedEvent);
  }

  async #rows<Row extends object>(key: string, name: string, text: string, values: unknown[]): Promise<Row[]> {
    try {
      return await this.#shares.run(key, async () => (await this.#pool.query<Row>({ name, text, values })).rows);
    } catch (cause) {
      if (cause instanceof TooBusy) throw cause;
      throw new EventStoreUnavailable('the event store could not be read', { cause });
    }
  }
}
