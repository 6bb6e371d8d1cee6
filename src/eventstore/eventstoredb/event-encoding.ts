import type { JSONEventData } from '@eventstore/db-client';
import type { EventMetadata, Position } from '../../kernel/event.ts';
import { isUuid, type TenantId } from '../../kernel/ids.ts';
import { AppendRefused, MAX_APPEND_BYTES, type Append, type NewEvent, type StoredEvent } from '../port.ts';
import { CLAIM_STREAMS } from './claim-stream.ts';
import { positionOf } from './positions.ts';
import type { RawEvent } from './stream-reader.ts';

/** What stands beside an event's data. The first event of an append also names the claims that came and went with it. */
interface StoredMetadata extends EventMetadata {
  readonly tenantId: TenantId;
  readonly version: number;
  /** The server's own words for the two ids, which its tools understand. */
  readonly $correlationId: string;
  readonly $causationId: string;
  readonly taken?: readonly string[];
  readonly released?: readonly string[];
}

export interface ClaimNames {
  readonly taken: readonly string[];
  readonly released: readonly string[];
}

/** Checked here because the client would never settle the promise of what it cannot serialise. */
export function encodeEvents(append: Append, claims: ClaimNames): JSONEventData[] {
  const { stream, expectedRevision, events } = append;
  if (events.length === 0) throw new AppendRefused('an append has at least one event');
  if (expectedRevision < -1n) throw new AppendRefused('an expected revision is -1 or above');
  if (stream.startsWith('$') || stream.startsWith(CLAIM_STREAMS)) throw new AppendRefused('that stream is not for events of the house');
  const encoded = events.map((event, at) => encodeEvent(append.tenantId, event, at === 0 ? claims : undefined));
  const bytes = encoded.reduce((sum, { size }) => sum + size, 0);
  if (bytes > MAX_APPEND_BYTES) throw new AppendRefused(`an append of ${bytes} bytes is larger than ${MAX_APPEND_BYTES}`);
  return encoded.map(({ event }) => event);
}

function encodeEvent(tenantId: TenantId, event: NewEvent, claims: ClaimNames | undefined): { event: JSONEventData; size: number } {
  if (!isUuid(event.id)) throw new AppendRefused('the id of an event is a UUID');
  if (event.type.startsWith('$')) throw new AppendRefused('types that begin with $ are the server’s own');
  const stored: StoredMetadata = {
    ...event.metadata,
    tenantId,
    version: event.version,
    $correlationId: event.metadata.correlationId,
    $causationId: event.metadata.causationId,
    ...(claims?.taken.length ? { taken: claims.taken } : {}),
    ...(claims?.released.length ? { released: claims.released } : {}),
  };
  try {
    const metadata = JSON.stringify(stored);
    const encoded: JSONEventData = {
      id: event.id,
      contentType: 'application/json',
      type: event.type,
      data: JSON.parse(event.data) as Record<string, unknown>,
      metadata: JSON.parse(metadata) as Record<string, unknown>,
    };
    // As the server counts: text in UTF-8, the type in UTF-16.
    return { event: encoded, size: Buffer.byteLength(event.data) + Buffer.byteLength(metadata) + 2 * event.type.length };
  } catch {
    // Without the cause: it would quote the data.
    throw new AppendRefused(`${event.type} cannot be written as JSON`);
  }
}

/** Undefined for what the house did not write: system events, claims, fences, and whatever else shares the server. */
export function decodeEvent(raw: RawEvent): StoredEvent | undefined {
  const stored = envelopeOf(raw);
  if (!stored) return undefined;
  const { tenantId, version, $correlationId: _, $causationId: __, taken: ___, released: ____, ...metadata } = stored;
  return {
    tenantId,
    id: raw.id,
    type: raw.type,
    version,
    stream: raw.streamId,
    revision: raw.revision,
    position: positionOfEvent(raw),
    recordedAt: raw.created.getTime(),
    data: raw.data,
    metadata,
  };
}

export function positionOfEvent({ position, streamId, revision }: RawEvent): Position {
  if (!position) throw new Error(`the server does not tell the position of ${streamId}@${revision}`);
  return positionOf(position.commit);
}

/** The streams of the claims that an event took. */
export const takenBy = (raw: RawEvent): readonly string[] => envelopeOf(raw)?.taken ?? [];

/** The streams of the claims that an event gave up. */
export const releasedBy = (raw: RawEvent): readonly string[] => envelopeOf(raw)?.released ?? [];

function envelopeOf({ metadata, position }: RawEvent): StoredMetadata | undefined {
  const { tenantId, version } = (metadata ?? {}) as Partial<StoredMetadata>;
  if (typeof tenantId !== 'string' || typeof version !== 'number') return undefined;
  if (position && position.commit !== position.prepare) throw new Error(`an event of the house at ${position.commit} was not written by it`);
  return metadata as unknown as StoredMetadata;
}
