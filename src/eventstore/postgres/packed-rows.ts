import { isoTimestamp } from '../../database/database.ts';
import type { EventMetadata, Position } from '../../kernel/event.ts';
import type { TenantId } from '../../kernel/ids.ts';
import type { StoredEvent } from '../port.ts';

/**
 * The envelope of an event as one JSON text. The driver's work is by the column: a row of two costs half of a row of ten,
 * which is what counts for who reads a whole history.
 */
export const PACKED = `concat('[', position, ',"', id, '",', to_json(type), ',', version, ',', to_json(stream), ',', revision,
  ',"', recorded_at, '",', metadata, ']') as envelope`;

export interface PackedRow {
  readonly envelope: string;
  readonly text: string;
}

type Envelope = [position: number, id: string, type: string, version: number, stream: string, revision: number, recordedAt: string, metadata: EventMetadata];

/** An event of a packed row; its data is parsed for those who ask for it. */
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

  constructor(tenantId: TenantId, { envelope, text }: PackedRow) {
    const [position, id, type, version, stream, revision, recordedAt, metadata] = JSON.parse(envelope) as Envelope;
    this.tenantId = tenantId;
    this.id = id;
    this.type = type;
    this.version = version;
    this.stream = stream;
    this.revision = BigInt(revision);
    this.position = BigInt(position);
    this.recordedAt = Date.parse(isoTimestamp(recordedAt));
    this.metadata = metadata;
    this.text = text;
  }

  get data(): unknown {
    return JSON.parse(this.text);
  }
}
