import { isoTimestamp } from '../../database/database.ts';
import type { EventMetadata, Position } from '../../kernel/event.ts';
import type { TenantId } from '../../kernel/ids.ts';
import type { StoredEvent } from '../port.ts';

/** ASCII's unit separator: in no name of this house, and in JSON only as an escape. */
const UNIT = '\u001f';

/**
 * The envelope of an event as one text. The work of driver and server is by the column: rows of two cost half of rows of ten,
 * which is what counts for who reads a whole history.
 */
export const PACKED = `concat_ws(E'\\x1f', position, tenant_id, id, type, version, stream, revision, recorded_at, metadata) as envelope`;

export interface PackedRow {
  readonly envelope: string;
  readonly text: string;
}

/** An event of a packed row; its data and metadata are parsed for those who ask for them. */
export class UnpackedEvent implements StoredEvent {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly type: string;
  readonly version: number;
  readonly stream: string;
  readonly revision: bigint;
  readonly position: Position;
  readonly recordedAt: number;
  readonly text: string;
  readonly #about: string;
  #metadata: EventMetadata | undefined;
  #data: unknown;

  constructor({ envelope, text }: PackedRow) {
    const [position, tenantId, id, type, version, stream, revision, recordedAt, metadata] = envelope.split(UNIT);
    this.tenantId = tenantId as TenantId;
    this.id = id!;
    this.type = type!;
    this.version = Number(version);
    this.stream = stream!;
    this.revision = BigInt(revision!);
    this.position = BigInt(position!);
    this.recordedAt = timeOf(recordedAt!);
    this.#about = metadata!;
    this.text = text;
  }

  get metadata(): EventMetadata {
    return (this.#metadata ??= JSON.parse(this.#about) as EventMetadata);
  }

  get data(): unknown {
    return (this.#data ??= JSON.parse(this.text));
  }
}

let latest = { text: '', time: 0 };
/** Events that were written together bear one time: most of a history is parsed once a group. */
function timeOf(text: string): number {
  if (latest.text !== text) latest = { text, time: Date.parse(isoTimestamp(text)) };
  return latest.time;
}
