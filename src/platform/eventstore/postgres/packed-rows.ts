import { isoTimestamp } from '../../database/database.ts';
import type { EventMetadata, Position } from '../../kernel/event.ts';
import type { TenantId } from '../../kernel/ids.ts';
import type { StoredEvent } from '../port.ts';

/** ASCII unit separator: occurs in no name of this application, and in JSON only as an escape. */
const UNIT = '\u001f';

/**
 * The envelope of an event as one text. Driver and server work per column: rows of two columns cost half as much as
 * rows of ten, which matters when a whole history is read.
 * Gain: `npm run bench -- without packed-rows`: 1.10 (95 %: 0.58 to 1.27) when a model is rebuilt, 1.05 (0.88 to 1.14)
 * when an audit chain is verified.
 */
export const PACKED = `concat_ws(E'\\x1f', position, tenant_id, id, type, version, stream, revision, recorded_at, metadata) as envelope`;

export interface PackedRow {
  readonly envelope: string;
  readonly text: string;
}

/** An event of a packed row. Data and metadata are parsed on demand. */
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
/** Events that were written together have the same time: most of a history is parsed once per group. */
function timeOf(text: string): number {
  if (latest.text !== text) latest = { text, time: Date.parse(isoTimestamp(text)) };
  return latest.time;
}
