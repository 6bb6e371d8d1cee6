import type pg from 'pg';
import { transaction } from '../../../platform/database/transaction.ts';
import type { EventStoreDbEventStore } from '../../../platform/eventstore/eventstoredb/eventstoredb-event-store.ts';
import type { LogExport, LogFact } from '../../../platform/eventstore/eventstoredb/log-export.ts';
import type { ClaimKey, EventStore, StoredEvent } from '../../../platform/eventstore/port.ts';
import { canonicalJson } from '../../../platform/kernel/canonical-json.ts';
import type { EventMetadata, Position } from '../../../platform/kernel/event.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import { openCopy, saveProgress, type CopyRecord } from './copy-record.ts';
import type { CopyParts, LogCopy } from './log-copy.ts';
import { withoutSeal } from './moved-log.ts';
import { checkPage } from './page-check.ts';
import { TenantHashes } from './tenant-hashes.ts';

const PAGE = 1_000;
const SECONDS_PER_DAY = 86_400;

const INSERT = `
  insert into events (position, tenant_id, stream, revision, id, type, version, recorded_at, metadata, data)
  select $1::bigint + n, tenant_id, stream, revision, id, type, version, to_timestamp(at / 1000.0), metadata, data
    from unnest($2::uuid[], $3::text[], $4::bigint[], $5::uuid[], $6::text[], $7::smallint[], $8::float8[], $9::json[], $10::json[])
         with ordinality as e(tenant_id, stream, revision, id, type, version, at, metadata, data, n)`;
const WRITTEN = `
  select position::text, tenant_id, stream, revision::text, id, type, version, round(extract(epoch from recorded_at) * 1000)::text as at, metadata, data
    from events where position > $1 order by events.position`;
const HOLD = `
  insert into claims (tenant_id, kind, digest, stream) values ($1, $2, decode($3, 'hex'), $4)
  on conflict (tenant_id, kind, digest) do update set stream = excluded.stream`;
const FREE = `delete from claims where tenant_id = $1 and kind = $2 and digest = decode($3, 'hex') and stream = $4`;
const RETAIN = `
  insert into stream_retention (stream, max_age_days) values ($1, $2) on conflict (stream) do update set max_age_days = excluded.max_age_days`;
/** The same state that retention leaves of an expired event: its position without content. */
const TRUNCATE = `
  update events set type = '$trimmed', version = 1, metadata = '{}', data = '{}' where stream = $1 and revision < $2 and type <> '$trimmed'`;

interface WrittenRow {
  position: string;
  tenant_id: TenantId;
  stream: string;
  revision: string;
  id: string;
  type: string;
  version: number;
  at: string;
  metadata: EventMetadata;
  data: unknown;
}

/** Copies the log from EventStoreDB into the database. Each page and its progress record are one transaction. */
export class CopyFrom implements LogCopy {
  readonly target: EventStore;
  readonly #parts: CopyParts;
  readonly #export: LogExport;
  readonly #hashes: TenantHashes;
  record: CopyRecord;

  private constructor(
    parts: CopyParts,
    source: EventStoreDbEventStore,
    target: EventStore,
    record: CopyRecord,
    hashes: TenantHashes,
  ) {
    this.#parts = parts;
    this.#export = source.logExport;
    this.target = target;
    this.record = record;
    this.#hashes = hashes;
  }

  static async open(
    parts: CopyParts,
    source: EventStoreDbEventStore,
    target: EventStore,
    url: string,
  ): Promise<CopyFrom> {
    const record = await openCopy(parts.owner, 'from', url, async () => {
      const { rows } = await parts.owner.query('select from events limit 1');
      return rows.length === 0;
    });
    return new CopyFrom(parts, source, target, record, await TenantHashes.load(parts.owner));
  }

  get hashes(): TenantHashes {
    return this.#hashes;
  }

  async step(): Promise<boolean> {
    const { facts, position } = await this.#export.read(this.record.sourcePosition, PAGE);
    if (position === this.record.sourcePosition) return false;
    this.record = await transaction(this.#parts.owner, (client) =>
      withoutSeal(client, () => this.#write(client, facts, position)),
    );
    return true;
  }

  /** Claims and retention are copied together with the events, in log order, so nothing remains to be done here. */
  async settle(): Promise<number> {
    return 0;
  }

  async #write(client: pg.PoolClient, facts: readonly LogFact[], sourcePosition: Position): Promise<CopyRecord> {
    const events = facts.flatMap((fact) => (fact.kind === 'event' ? [fact.event] : []));
    await insert(client, this.record.targetPosition, events);
    const { rows } = await client.query<WrittenRow>(WRITTEN, [String(this.record.targetPosition)]);
    const written = rows.map(storedRow);
    const positions = checkPage(events, written, this.#hashes, this.#parts.isLasting);
    for (const fact of facts) await note(client, fact);
    return saveProgress(client, {
      record: this.record,
      sourcePosition,
      targetPosition: written.at(-1)?.position ?? this.record.targetPosition,
      copied: events.length,
      positions,
      hashes: this.#hashes,
    });
  }
}

async function insert(client: pg.PoolClient, after: Position, events: readonly StoredEvent[]): Promise<void> {
  const column = <T>(value: (event: StoredEvent) => T) => events.map(value);
  await client.query(INSERT, [
    String(after),
    column(({ tenantId }) => tenantId),
    column(({ stream }) => stream),
    column(({ revision }) => String(revision)),
    column(({ id }) => id),
    column(({ type }) => type),
    column(({ version }) => version),
    column(({ recordedAt }) => recordedAt),
    column(({ metadata }) => JSON.stringify(metadata)),
    // Canonical JSON, as this store keeps it: the audit chain hashes the text.
    column(({ data }) => canonicalJson(data)),
  ]);
}

async function note(client: pg.PoolClient, fact: LogFact): Promise<void> {
  const change = (sql: string, { tenantId, kind, digest }: ClaimKey, holder: string) =>
    client.query(sql, [tenantId, kind, digest, holder]);
  switch (fact.kind) {
    case 'held':
      return void (await change(HOLD, fact.claim, fact.holder));
    case 'freed':
      return void (await change(FREE, fact.claim, fact.holder));
    case 'event': {
      const { event, taken, released } = fact;
      for (const claim of released) await change(FREE, claim, event.stream);
      for (const claim of taken) await change(HOLD, claim, event.stream);
      return;
    }
    case 'metadata':
      if (fact.maxAgeSeconds !== undefined)
        await client.query(RETAIN, [fact.stream, Math.max(1, Math.round(fact.maxAgeSeconds / SECONDS_PER_DAY))]);
      if (fact.truncatedBefore > 0n) await client.query(TRUNCATE, [fact.stream, String(fact.truncatedBefore)]);
  }
}

const storedRow = (row: WrittenRow): StoredEvent => ({
  tenantId: row.tenant_id,
  id: row.id,
  type: row.type,
  version: row.version,
  stream: row.stream,
  revision: BigInt(row.revision),
  position: BigInt(row.position),
  recordedAt: Number(row.at),
  metadata: row.metadata,
  data: row.data,
});
