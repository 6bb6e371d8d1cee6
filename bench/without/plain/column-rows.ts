import { isoTimestamp } from '../../../src/platform/database/database.ts';
import type { StoredEvent } from '../../../src/platform/eventstore/port.ts';
import type { EventMetadata, Position } from '../../../src/platform/kernel/event.ts';
import type { TenantId } from '../../../src/platform/kernel/ids.ts';

/** Replaces `packed-rows.ts`: an event's envelope in a column for each member. */
export const PACKED = `position::text as place, tenant_id, stream, revision::text as nth, id, type, version, recorded_at::text as recorded, metadata`;

export interface PackedRow {
  readonly place: string;
  readonly tenant_id: TenantId;
  readonly stream: string;
  readonly nth: string;
  readonly id: string;
  readonly type: string;
  readonly version: number;
  readonly recorded: string;
  readonly metadata: EventMetadata;
  readonly text: string;
}

export class UnpackedEvent implements StoredEvent {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly type: string;
  readonly version: number;
  readonly stream: string;
  readonly revision: bigint;
  readonly position: Position;
  readonly recordedAt: number;
  readonly metadata: EventMetadata;
  readonly text: string;
  #data: unknown;

  constructor(row: PackedRow) {
    this.tenantId = row.tenant_id;
    this.id = row.id;
    this.type = row.type;
    this.version = row.version;
    this.stream = row.stream;
    this.revision = BigInt(row.nth);
    this.position = BigInt(row.place);
    this.recordedAt = Date.parse(isoTimestamp(row.recorded));
    this.metadata = row.metadata;
    this.text = row.text;
  }

  get data(): unknown {
    return (this.#data ??= JSON.parse(this.text));
  }
}
