import type { EventMetadata } from '../../kernel/event.ts';
import type { TenantId } from '../../kernel/ids.ts';
import type { StoredEvent } from '../port.ts';

/** A row as the driver returns it: 64-bit numbers as text, the timestamp in ISO 8601, JSON parsed. */
export interface EventRow {
  position: string;
  tenant_id: TenantId;
  stream: string;
  revision: string;
  id: string;
  type: string;
  version: number;
  recorded_at: string;
  metadata: EventMetadata;
  data: unknown;
}

export const storedEvent = (row: EventRow): StoredEvent => ({
  tenantId: row.tenant_id,
  id: row.id,
  type: row.type,
  version: row.version,
  stream: row.stream,
  revision: BigInt(row.revision),
  position: BigInt(row.position),
  recordedAt: Date.parse(row.recorded_at),
  metadata: row.metadata,
  data: row.data,
});
