import type { StoredEvent } from '../../../platform/eventstore/port.ts';
import type { Position, RecordedEvent } from '../../../platform/kernel/event.ts';
import type { RecordType } from '../domain/vocabulary.ts';
import type { FormatRecord, LogRecord } from '../formats/log-record.ts';
import { recordsOf } from '../records-of.ts';
import { SinkFailed, type OutgoingRecord, type Sink } from '../sinks/sink.ts';
import type { ForwardingCheckpoint, ForwardingCheckpoints, RefusedRecord } from './forwarding-checkpoints.ts';
import type { TenantLog } from './tenant-log.ts';

/** A destination as it is configured now. */
export interface OpenedDestination {
  readonly sink: Sink;
  readonly types: ReadonlySet<RecordType>;
  readonly format: FormatRecord;
}

const HOUR_MS = 3_600_000;
export const hourEnd = (recordedAt: number): number => (Math.floor(recordedAt / HOUR_MS) + 1) * HOUR_MS;

export const NO_ROOM = 'too many records are refused: send them again or delete them from the list';

interface Listeners {
  readonly signal: AbortSignal;
  /** Everything up to this position was sent. */
  sent(position: Position, amount: { events: number; records: number; bytes: number }): void;
  /** Where objects are hourly: what follows belongs to another one. */
  endOfHour(): Promise<void>;
}

/** Turns events into batches of formatted records, and sends them in order. */
export class PageSender {
  readonly #destination: OpenedDestination;
  readonly #ports: { readonly tenantLog: TenantLog; readonly checkpoints: ForwardingCheckpoints };
  readonly #checkpoint: ForwardingCheckpoint;
  readonly #listeners: Listeners;
  #hour: number | undefined;

  constructor(
    destination: OpenedDestination,
    ports: { readonly tenantLog: TenantLog; readonly checkpoints: ForwardingCheckpoints },
    checkpoint: ForwardingCheckpoint,
    listeners: Listeners,
  ) {
    this.#destination = destination;
    this.#ports = ports;
    this.#checkpoint = checkpoint;
    this.#listeners = listeners;
  }

  async send(events: readonly StoredEvent[]): Promise<void> {
    for (const group of this.#groupsOf(events)) {
      const hour = hourEnd(group[0]!.recordedAt);
      if (this.#destination.sink.limits.isHourly && this.#hour !== undefined && this.#hour !== hour)
        await this.#listeners.endOfHour();
      this.#hour = hour;
      await this.#sendGroup(group);
    }
  }

  /** Events of one hour each, where objects are hourly; otherwise all together. */
  #groupsOf(events: readonly StoredEvent[]): StoredEvent[][] {
    if (!this.#destination.sink.limits.isHourly) return [[...events]];
    const groups: StoredEvent[][] = [];
    for (const event of events) {
      const last = groups.at(-1);
      if (last && hourEnd(last[0]!.recordedAt) === hourEnd(event.recordedAt)) last.push(event);
      else groups.push([event]);
    }
    return groups;
  }

  async #sendGroup(events: readonly StoredEvent[]): Promise<void> {
    const { sink, format } = this.#destination;
    const { batchRecords, batchBytes } = sink.limits;
    const decoded = await this.#ports.tenantLog.decode(events);
    let batch: OutgoingRecord[] = [];
    let [bytes, records, allBytes] = [0, 0, 0];
    for (const [index, event] of decoded.entries()) {
      const { position, recordedAt } = events[index]!;
      for (const record of await this.#recordsOf(event)) {
        const line = format(record);
        if (batch.length > 0 && (batch.length >= batchRecords || bytes + line.length > batchBytes)) {
          await this.#flush(batch);
          [batch, bytes] = [[], 0];
        }
        batch.push({ record, line, position, recordedAt });
        bytes += line.length;
        allBytes += line.length;
        records += 1;
      }
    }
    if (batch.length > 0) await this.#flush(batch);
    this.#listeners.sent(events.at(-1)!.position, { events: events.length, records, bytes: allBytes });
  }

  /** Records of an event outside the range are none. A damaged event is listed as refused: no retry would help. */
  async #recordsOf(event: RecordedEvent | undefined): Promise<readonly LogRecord[]> {
    const { range } = this.#checkpoint;
    if (!event) return [];
    if (range && (event.recordedAt < range.from || event.recordedAt > range.to || event.position > range.until))
      return [];
    try {
      return recordsOf(event, this.#destination.types);
    } catch {
      const { id: recordId, position } = event;
      await this.#refuse([{ recordId, recordType: 'audit', position, reason: 'the event cannot be read' }]);
      return [];
    }
  }

  async #flush(batch: readonly OutgoingRecord[]): Promise<void> {
    const refusals = await this.#destination.sink.send(batch, this.#listeners.signal);
    if (refusals.length === 0) return;
    await this.#refuse(
      refusals.map(({ index, reason }) => {
        const { record, position } = batch[index]!;
        return { recordId: record.id, recordType: record.type, position, reason };
      }),
    );
  }

  async #refuse(refused: readonly RefusedRecord[]): Promise<void> {
    if (!(await this.#ports.checkpoints.refuse(this.#checkpoint, refused))) throw new SinkFailed(NO_ROOM);
  }
}
