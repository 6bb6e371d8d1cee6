import { ChainKey } from '../../src/contexts/audit/domain/chain-key.ts';
import {
  entryAfter,
  entryHash,
  GENESIS,
  type ChainHead,
  type Unhashed,
} from '../../src/contexts/audit/domain/entry.ts';
import { auditVocabulary } from '../../src/contexts/audit/domain/vocabulary.ts';
import type { EventFamily, RecordedEvent } from '../../src/platform/kernel/event.ts';
import {
  bigint,
  defineReadModel,
  id,
  nullable,
  text,
  timestamp,
  type NamedReadModel,
  type Row,
  type RowChange,
} from '../../src/platform/kernel/read-model.ts';

const columns = {
  /**
   * The event's position in the log. Row 0 is the tenant's head row, which repeats sequence and hash of the last entry.
   */
  position: bigint,
  sequence: bigint,
  hash: text,
  previous_hash: nullable(text),
  event_id: nullable(id),
  recorded_at: nullable(timestamp),
  actor_type: nullable(text),
  actor_id: nullable(text),
  action: nullable(text),
  resource_type: nullable(text),
  resource_id: nullable(text),
  details: nullable(text),
  event: nullable(text),
  ip_address: nullable(text),
  user_agent: nullable(text),
};
/** An entry or, with nulls, the head row. */
export type AuditLogRow = Row<{ columns: typeof columns }>;

export const HEAD_POSITION = 0;

/** The columns that hold an entry, in the order of the table. */
export const auditLogRowOf = (entry: Unhashed, hash: string, position: number): AuditLogRow => ({
  position,
  sequence: entry.sequence,
  hash,
  previous_hash: entry.previousHash,
  event_id: entry.id,
  recorded_at: entry.timestamp,
  actor_type: entry.actorType,
  actor_id: entry.actorId,
  action: entry.action,
  resource_type: entry.resourceType,
  resource_id: entry.resourceId,
  details: entry.details,
  event: entry.event,
  ip_address: entry.ipAddress,
  user_agent: entry.userAgent,
});

const headRow = ({ sequence, hash }: ChainHead): AuditLogRow => ({
  position: HEAD_POSITION,
  sequence,
  hash,
  previous_hash: null,
  event_id: null,
  recorded_at: null,
  actor_type: null,
  actor_id: null,
  action: null,
  resource_type: null,
  resource_id: null,
  details: null,
  event: null,
  ip_address: null,
  user_agent: null,
});

/**
 * The audit chain: one entry for every event that is not telemetry. Entries are computed from stored events and the key
 * alone, so that a rebuild produces the same bytes. An event that cannot be folded halts the projection: a chain with a
 * gap would prove nothing.
 */
export function auditLog(auditKey: Buffer, families: readonly EventFamily[]): NamedReadModel {
  const key = new ChainKey(auditKey);
  const on: Record<string, (event: RecordedEvent) => readonly RowChange<AuditLogRow, 'position'>[]> = {};
  for (const [type, words] of auditVocabulary(families)) {
    on[type] = (event) => {
      const position = Number(event.position);
      let entry: Unhashed | undefined;
      let hash = '';
      // The steps run in this order: the entry continues the head that the first step found.
      const moveHead = (head: AuditLogRow | undefined) => {
        entry = entryAfter(head ?? GENESIS, event, { version: event.stored.version, data: event.stored.data }, words);
        hash = entryHash(key, entry);
        return headRow({ sequence: entry.sequence, hash });
      };
      return [
        { key: { position: HEAD_POSITION }, fold: moveHead },
        { key: { position }, fold: () => auditLogRowOf(entry!, hash, position), once: true },
      ];
    };
  }
  return defineReadModel({
    name: 'audit_log',
    version: 1,
    lane: 'main',
    columns,
    key: ['position'],
    indexes: [
      ['actor_id', 'position'],
      ['action', 'position'],
      ['resource_type', 'position'],
      ['recorded_at'],
      `(tenant_id) where position = ${HEAD_POSITION}`,
    ],
    families,
    on,
    onFoldFailure: 'halt',
  });
}
