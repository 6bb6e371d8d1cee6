import type { Unhashed } from './domain/entry.ts';
import type { Position } from '../../platform/kernel/event.ts';

/** What stands between columns, and for null. No column that was honestly written holds a control character. */
const S = '\u001f';
const NULL = '\u001e';

/**
 * A row of `audit_log` as one line, in SQL; `SerializedRows` prints the same. Honest lines hold a fixed number of separators and
 * no line break, so where two texts of equally many rows are the same, their columns are, one by one.
 */
export const SERIALIZED_ROW = `concat_ws(chr(31), position, sequence, hash, previous_hash, event_id, recorded_at, actor_type,
  coalesce(actor_id, chr(30)), action, resource_type, resource_id, details, event, coalesce(ip_address, chr(30)),
  coalesce(user_agent, chr(30)))`;

/** Rows as they have to stand in the table, kept as bytes: strings by the thousand would cost more to collect than to make. */
export class SerializedRows {
  #bytes = Buffer.allocUnsafe(1024 * 1024);
  #size = 0;
  readonly #ends: number[] = [];

  add(entry: Unhashed, hash: string, position: Position): void {
    const {
      sequence,
      previousHash,
      id,
      actorType,
      actorId,
      action,
      resourceType,
      resourceId,
      details,
      event,
      ipAddress,
      userAgent,
    } = entry;
    const line =
      `${this.#size === 0 ? '' : '\n'}${position}${S}${sequence}${S}${hash}${S}${previousHash}${S}${id}${S}${timestamp(entry.timestamp)}${S}` +
      `${actorType}${S}${actorId ?? NULL}${S}${action}${S}${resourceType}${S}${resourceId}${S}${details}${S}${event}${S}` +
      `${ipAddress ?? NULL}${S}${userAgent ?? NULL}`;
    const most = this.#size + 3 * line.length;
    if (most > this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes.subarray(0, this.#size)], 2 * most);
    this.#size += this.#bytes.write(line, this.#size);
    this.#ends.push(this.#size);
  }

  at(index: number): string {
    const start = index === 0 ? 0 : this.#ends[index - 1]! + 1;
    return this.#bytes.toString('utf8', start, this.#ends[index]);
  }

  /** True when the first `count` rows read like this. */
  equals(text: string, count: number): boolean {
    return this.#bytes.subarray(0, count === 0 ? 0 : this.#ends[count - 1]).equals(Buffer.from(text));
  }
}

/** A line but for its third column, which is all that another key changes in the first row that it made. */
export function withoutHashColumn(line: string): string {
  const columns = line.split(S);
  columns[2] = '';
  return columns.join(S);
}

/** As PostgreSQL prints it in UTC: a blank for the T, and no zeros at the end of the fraction. */
const timestamp = (iso: string): string => `${iso.slice(0, 10)} ${iso.slice(11).replace(/\.?0*Z$/, '')}+00`;
