import type { Unhashed } from './domain/entry.ts';
import type { Position } from '../../platform/kernel/event.ts';

/** Separators: between columns, and for null. Columns that the application writes contain no control characters. */
const S = '\u001f';
const NULL = '\u001e';

/**
 * A row of `audit_log` as one line, in SQL; `SerializedRows` produces the same text.
 *
 * Untampered lines hold a fixed number of separators and no line break. So if two texts of equally many rows are equal,
 * their columns are equal one by one.
 */
export const SERIALIZED_ROW = `concat_ws(chr(31), position, sequence, hash, previous_hash, event_id, recorded_at, actor_type,
  coalesce(actor_id, chr(30)), action, resource_type, resource_id, details, event, coalesce(ip_address, chr(30)),
  coalesce(user_agent, chr(30)))`;

/** The rows that the table should contain, as bytes: thousands of strings would cost more to collect than to create. */
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

  /** True if the first `count` rows equal this text. */
  equals(text: string, count: number): boolean {
    return this.#bytes.subarray(0, count === 0 ? 0 : this.#ends[count - 1]).equals(Buffer.from(text));
  }
}

/** A line without its hash column: the only column that another key changes in the first row that it wrote. */
export function withoutHashColumn(line: string): string {
  const columns = line.split(S);
  columns[2] = '';
  return columns.join(S);
}

/** PostgreSQL's UTC format: a space instead of the T, and no trailing zeros in the fraction. */
const timestamp = (iso: string): string => `${iso.slice(0, 10)} ${iso.slice(11).replace(/\.?0*Z$/, '')}+00`;
