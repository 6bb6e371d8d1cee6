import type { Unhashed } from '../domain/audit/entry.ts';
import type { Position } from '../kernel/event.ts';

/**
 * A row as one line of text, on both sides of the comparison. No column that was honestly written holds a separator: JSON
 * escapes control characters, and the rest are identifiers and headers. So where two texts of equally many rows agree, no
 * column of either holds one, and they agree column by column.
 */
const SEPARATOR = '\u001f';
const NULL = '\u0000';

const NULLABLE = ['actor_id', 'ip_address', 'user_agent'];
const COLUMNS = [
  'position', 'sequence', 'hash', 'previous_hash', 'event_id', 'recorded_at', 'actor_type', 'actor_id',
  'action', 'resource_type', 'resource_id', 'details', 'event', 'ip_address', 'user_agent',
];

/** The same in SQL. */
export const PRINTED = `concat_ws(chr(31), ${COLUMNS.map((name) => (NULLABLE.includes(name) ? `coalesce(${name}, chr(30))` : name)).join(', ')})`;
void SEPARATOR; void NULL;
const orNull = (text: string | null): string => text ?? '\u001e';

export const printed = (entry: Unhashed, hash: string, position: Position): string =>
  `${position}\u001f${entry.sequence}\u001f${hash}\u001f${entry.previousHash}\u001f${entry.id}\u001f${timestamp(entry.timestamp)}\u001f` +
  `${entry.actorType}\u001f${orNull(entry.actorId)}\u001f${entry.action}\u001f${entry.resourceType}\u001f${entry.resourceId}\u001f` +
  `${entry.details}\u001f${entry.event}\u001f${orNull(entry.ipAddress)}\u001f${orNull(entry.userAgent)}`;

/** As PostgreSQL prints it in UTC: a blank for the T, and no zeros at the end of the fraction. */
const timestamp = (iso: string): string => `${iso.slice(0, 10)} ${iso.slice(11).replace(/\.?0*Z$/, '')}+00`;
