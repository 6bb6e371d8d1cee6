import type { EventCodec } from '../../platform/eventstore/codec.ts';
import type { EventStore } from '../../platform/eventstore/port.ts';
import type { TenantPool } from '../../platform/database/tenant-pool.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import type { RecordType } from './domain/vocabulary.ts';
import { recordsOf } from './records-of.ts';
import type { DestinationSinks } from './forwarding/destination-sinks.ts';
import type { OutgoingRecord } from './sinks/sink.ts';

export interface ListedRefusal {
  readonly recordId: string;
  readonly type: RecordType;
  readonly reason: string;
  readonly refusedAt: string;
}

interface Row {
  readonly record_id: string;
  readonly record_type: RecordType;
  readonly position: string;
  readonly reason: string;
  readonly refused_at: string;
}

/** Records that one call sends again. */
export const RETRIED_AT_ONCE = 100;
const RETRY_MS = 30_000;

export interface RetryResult {
  readonly sent: number;
  readonly refused: number;
  /** Their events are no longer in the log, or hold no such record any more. They leave the list. */
  readonly gone: number;
  /** Ids that are not in the list: sent or removed meanwhile, or never there. */
  readonly unknown: readonly string[];
}

export interface RefusedRecordPorts {
  readonly pool: TenantPool;
  readonly store: Pick<EventStore, 'eventAt'>;
  readonly codec: EventCodec;
  readonly sinks: DestinationSinks;
}

/** Records that a destination refused for good. The list holds no content: a retry reads the log again. */
export class RefusedRecords {
  readonly #ports: RefusedRecordPorts;

  constructor(ports: RefusedRecordPorts) {
    this.#ports = ports;
  }

  /** Newest first. */
  async list(
    tenantId: TenantId,
    destinationId: string,
    { limit, offset }: { readonly limit: number; readonly offset: number },
  ): Promise<{ readonly records: readonly ListedRefusal[]; readonly total: number }> {
    const { rows } = await this.#ports.pool.statement<Row & { total: number }>(
      tenantId,
      `select record_id, record_type, position::text, reason, refused_at, count(*) over () as total
         from log_refused_records where tenant_id = $1 and destination_id = $2
        order by refused_at desc, record_id limit $3 offset $4`,
      [destinationId, limit, offset],
    );
    return {
      records: rows.map((row) => ({
        recordId: row.record_id,
        type: row.record_type,
        reason: row.reason,
        refusedAt: row.refused_at,
      })),
      total: rows[0]?.total ?? 0,
    };
  }

  /** Removes records from the list without sending them. Returns how many there were. */
  async dismiss(tenantId: TenantId, destinationId: string, recordIds: readonly string[]): Promise<number> {
    const { rowCount } = await this.#ports.pool.statement(
      tenantId,
      'delete from log_refused_records where tenant_id = $1 and destination_id = $2 and record_id = any($3)',
      [destinationId, recordIds],
    );
    return rowCount ?? 0;
  }

  /**
   * Sends records again as their events read now, without values of people erased since. Those that the destination
   * takes leave the list. Throws `SinkFailed` if it takes none now; undefined if the destination does not exist.
   */
  async retry(
    tenantId: TenantId,
    destinationId: string,
    recordIds: readonly string[],
  ): Promise<RetryResult | undefined> {
    const { pool, sinks } = this.#ports;
    const opened = await sinks.open(tenantId, destinationId);
    if (!opened) return undefined;
    try {
      const { rows } = await pool.statement<Row>(
        tenantId,
        `select record_id, record_type, position::text, reason, refused_at from log_refused_records
          where tenant_id = $1 and destination_id = $2 and record_id = any($3) order by log_refused_records.position`,
        [destinationId, recordIds],
      );
      const found = await Promise.all(rows.map((row) => this.#recordOf(tenantId, row)));
      const gone = rows.filter((_, index) => found[index] === undefined);
      const outgoing = found
        .filter((one) => one !== undefined)
        .map((one): OutgoingRecord => ({ ...one, line: opened.format(one.record) }));
      const signal = AbortSignal.timeout(RETRY_MS);
      const refusals = outgoing.length === 0 ? [] : await opened.sink.send(outgoing, signal);
      await opened.sink.confirm(signal);
      const refused = new Set(refusals.map(({ index }) => outgoing[index]!.record.id));
      const leaves = rows.map(({ record_id }) => record_id).filter((id) => !refused.has(id));
      await this.dismiss(tenantId, destinationId, leaves);
      const listed = new Set(rows.map(({ record_id }) => record_id));
      const unknown = recordIds.filter((id) => !listed.has(id));
      return { sent: outgoing.length - refusals.length, refused: refusals.length, gone: gone.length, unknown };
    } finally {
      opened.sink.close();
    }
  }

  async #recordOf(tenantId: TenantId, row: Row): Promise<Omit<OutgoingRecord, 'line'> | undefined> {
    const { store, codec } = this.#ports;
    const position = BigInt(row.position);
    const stored = await store.eventAt(position);
    if (!stored || stored.tenantId !== tenantId) return undefined;
    const [event] = await codec.decodeForFollowers([stored]);
    if (!event) return undefined;
    try {
      const record = recordsOf(event, new Set([row.record_type])).find(({ id }) => id === row.record_id);
      return record && { record, position, recordedAt: stored.recordedAt };
    } catch {
      return undefined;
    }
  }
}
