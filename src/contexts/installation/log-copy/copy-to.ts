import type pg from 'pg';
import type { EventStore, StoredEvent } from '../../../platform/eventstore/port.ts';
import type { EventStoreDbEventStore } from '../../../platform/eventstore/eventstoredb/eventstoredb-event-store.ts';
import type { HeldClaim, LogImport } from '../../../platform/eventstore/eventstoredb/log-import.ts';
import { FailureError, conflict } from '../../../platform/kernel/failure.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import { transaction } from '../../../platform/database/transaction.ts';
import { openCopy, saveProgress, type CopyRecord } from './copy-record.ts';
import type { CopyParts, LogCopy } from './log-copy.ts';
import { checkPage } from './page-check.ts';
import { TenantHashes } from './tenant-hashes.ts';

/**
 * The placeholder of an expired event in the embedded store. It has no content. EventStoreDB leaves the gap by itself,
 * so it is not copied.
 */
const TRIMMED = '$trimmed';
const PAGE = 1_000;
/** Claims and retention marks are independent, so they are written concurrently. */
const AT_ONCE = 32;
const ROWS = 5_000;

const NEW_CLAIMS = `
  select c.tenant_id, c.kind, encode(c.digest, 'hex') as digest, c.stream from claims c
   where not exists (select from log_copy_claims k where k.tenant_id = c.tenant_id and k.kind = c.kind and k.digest = c.digest and k.stream = c.stream)`;
const FREED_CLAIMS = `
  select k.tenant_id, k.kind, encode(k.digest, 'hex') as digest, k.stream from log_copy_claims k
   where not exists (select from claims c where c.tenant_id = k.tenant_id and c.kind = k.kind and c.digest = k.digest)`;
const NOTE_CLAIM = `
  insert into log_copy_claims (tenant_id, kind, digest, stream) values ($1, $2, decode($3, 'hex'), $4)
  on conflict (tenant_id, kind, digest) do update set stream = excluded.stream`;
const FORGET_CLAIM = `delete from log_copy_claims where tenant_id = $1 and kind = $2 and digest = decode($3, 'hex')`;
// Seconds until the newest event expires: the server counts from the time of the copy.
const NEW_RETENTION = `
  select r.stream, r.max_age_days,
         r.max_age_days * 86400 - extract(epoch from now() - coalesce((select max(e.recorded_at) from events e where e.stream = r.stream), now()))::float8 as seconds
    from stream_retention r left join log_copy_retention k using (stream) where k.max_age_days is distinct from r.max_age_days`;
const NOTE_RETENTION = `
  insert into log_copy_retention (stream, max_age_days) values ($1, $2) on conflict (stream) do update set max_age_days = excluded.max_age_days`;

interface ClaimRow {
  tenant_id: TenantId;
  kind: string;
  digest: string;
  stream: string;
}

interface RetentionRow {
  stream: string;
  max_age_days: number;
  seconds: number;
}

const someOf = async <Row extends pg.QueryResultRow>(owner: pg.Pool, sql: string): Promise<Row[]> =>
  (await owner.query<Row>(`${sql} limit ${ROWS}`)).rows;

const heldClaim = ({ tenant_id, kind, digest, stream }: ClaimRow): HeldClaim => ({
  tenantId: tenant_id,
  kind,
  digest,
  holder: stream,
});

/** Copies the log from the database to EventStoreDB. The service may keep running. */
export class CopyTo implements LogCopy {
  readonly target: EventStore;
  readonly #parts: CopyParts;
  readonly #import: LogImport;
  readonly #hashes: TenantHashes;
  record: CopyRecord;

  private constructor(parts: CopyParts, target: EventStoreDbEventStore, record: CopyRecord, hashes: TenantHashes) {
    this.#parts = parts;
    this.target = target;
    this.#import = target.logImport;
    this.record = record;
    this.#hashes = hashes;
  }

  static async open(parts: CopyParts, target: EventStoreDbEventStore, url: string): Promise<CopyTo> {
    const { logImport } = target;
    const content = await logImport.content();
    const record = await openCopy(parts.owner, 'to', url, async () => content === 'empty');
    // Recorded in the database first: a copy that began on the server only could not be resumed.
    if (content === 'empty') await logImport.begin(record.id);
    else if (content === 'used' || content.copy !== record.id)
      throw new FailureError(
        conflict('command_refused', 'the target holds another copy, or events of an installation'),
      );
    return new CopyTo(parts, target, record, await TenantHashes.load(parts.owner));
  }

  get hashes(): TenantHashes {
    return this.#hashes;
  }

  async step(): Promise<boolean> {
    const { source, owner, isLasting } = this.#parts;
    const page = await source.readAll(this.record.sourcePosition, PAGE);
    if (page.position === this.record.sourcePosition) return false;
    const events = page.events.filter(({ type }) => type !== TRIMMED);
    await this.#import.write(events);
    const written = await this.#readBack(events.length);
    const positions = checkPage(events, written, this.#hashes, isLasting);
    const progress = {
      record: this.record,
      sourcePosition: page.position,
      targetPosition: written.at(-1)?.position ?? this.record.targetPosition,
      copied: events.length,
      positions,
      hashes: this.#hashes,
    };
    this.record = await transaction(owner, (client) => saveProgress(client, progress));
    await this.#forgetErased(events);
    return true;
  }

  /** The events that the server returns for the page, in the server's order. */
  async #readBack(count: number): Promise<StoredEvent[]> {
    const written: StoredEvent[] = [];
    for (let after = this.record.targetPosition; written.length < count;) {
      const page = await this.target.readAll(after, count - written.length);
      if (page.position === after) break;
      written.push(...page.events);
      after = page.position;
    }
    return written;
  }

  /** An erasure during the copy changes events in the database that were already copied. */
  async #forgetErased(events: readonly StoredEvent[]): Promise<void> {
    for (const { type, tenantId, recordedAt, data } of events) {
      if (type !== 'EmployeeErased' || recordedAt < this.record.startedAt) continue;
      await this.target.forgetTelemetryOf(tenantId, (data as { userId: string }).userId);
    }
  }

  async settle(): Promise<number> {
    const { owner } = this.#parts;
    const hold = async (row: ClaimRow) => {
      if (!(await this.#import.holdClaim(heldClaim(row)))) return false;
      await owner.query(NOTE_CLAIM, [row.tenant_id, row.kind, row.digest, row.stream]);
      return true;
    };
    const free = async (row: ClaimRow) => {
      await this.#import.freeClaim(heldClaim(row));
      await owner.query(FORGET_CLAIM, [row.tenant_id, row.kind, row.digest]);
      return true;
    };
    const retain = async ({ stream, max_age_days, seconds }: RetentionRow) => {
      await this.#import.retain(stream, seconds);
      await owner.query(NOTE_RETENTION, [stream, max_age_days]);
      return true;
    };
    await eachOf(() => someOf<ClaimRow>(owner, FREED_CLAIMS), free);
    const waiting = await eachOf(() => someOf<ClaimRow>(owner, NEW_CLAIMS), hold);
    await eachOf(() => someOf<RetentionRow>(owner, NEW_RETENTION), retain);
    return waiting;
  }
}

/**
 * Processes the open rows in batches that fit into memory, until none of the remaining rows can be processed. Returns
 * how many remain.
 */
async function eachOf<Row>(open: () => Promise<Row[]>, work: (row: Row) => Promise<boolean>): Promise<number> {
  for (;;) {
    const rows = await open();
    let next = 0;
    let done = 0;
    const worker = async () => {
      for (let at = next++; at < rows.length; at = next++) if (await work(rows[at]!)) done += 1;
    };
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, rows.length) }, worker));
    if (done === 0 || rows.length < ROWS) return rows.length - done;
  }
}
