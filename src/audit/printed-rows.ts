import type { Unhashed } from '../domain/audit/entry.ts';
import type { Position } from '../kernel/event.ts';

/** What stands between columns, and for null. No column that was honestly written holds a control character. */
const SEPARATOR = '\u001f';
const NULL = '\u001e';

/**
 * A row of `audit_log` as one line, in SQL; `PrintedRows` prints the same. Honest lines hold a fixed number of separators and
 * no line break, so where two texts of equally many rows are the same, their columns are, one by one.
 */
export const PRINTED = `concat_ws(chr(31), position, sequence, hash, previous_hash, event_id, recorded_at, actor_type,
  coalesce(actor_id, chr(30)), action, resource_type, resource_id, details, event, coalesce(ip_address, chr(30)),
  coalesce(user_agent, chr(30)))`;

/** Rows as they have to stand in the table, kept as bytes: strings by the thousand would cost more to collect than to make. */
export class PrintedRows {
  #bytes = Buffer.allocUnsafe(1024 * 1024);
  #size = 0;

  add(entry: Unhashed, hash: string, position: Position): void {
    const line = [
      this.#size === 0 ? `${position}` : `\n${position}`,
      entry.sequence,
      hash,
      entry.previousHash,
      entry.id,
      timestamp(entry.timestamp),
      entry.actorType,
      entry.actorId ?? NULL,
      entry.action,
      entry.resourceType,
      entry.resourceId,
      entry.details,
      entry.event,
      entry.ipAddress ?? NULL,
      entry.userAgent ?? NULL,
    ].join(SEPARATOR);
    const most = this.#size + 3 * line.length;
    if (most > this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes.subarray(0, this.#size)], 2 * most);
    this.#size += this.#bytes.write(line, this.#size);
  }

  equals(text: string): boolean {
    return this.#bytes.subarray(0, this.#size).equals(Buffer.from(text));
  }
}

/** As PostgreSQL prints it in UTC: a blank for the T, and no zeros at the end of the fraction. */
const timestamp = (iso: string): string => `${iso.slice(0, 10)} ${iso.slice(11).replace(/\.?0*Z$/, '')}+00`;
