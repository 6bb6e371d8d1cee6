import { canonicalJson } from '../../kernel/canonical-json.ts';
import type { EventMetadata, Position } from '../../kernel/event.ts';
import { isUuid, type TenantId } from '../../kernel/ids.ts';
import { AppendRefused, MAX_APPEND_BYTES, type Append, type NewEvent, type StoredEvent } from '../port.ts';
import type { OutgoingEvent } from './outgoing-event.ts';
import { positionOf } from './positions.ts';
import { isEventStream } from './stream-names.ts';
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
  /** Of an event that was copied from another store: its time there. The server stamps the moment of the copy. */
  readonly copied?: { readonly recordedAt: number };
}

export interface ClaimNames {
  readonly taken: readonly string[];
  readonly released: readonly string[];
}

/** Checked here because neither client nor server says what is wrong with an event. */
export function encodeEvents(append: Append, claims: ClaimNames): OutgoingEvent[] {
  const { stream, expectedRevision, events } = append;
  if (events.length === 0) throw new AppendRefused('an append has at least one event');
  if (expectedRevision < -1n) throw new AppendRefused('an expected revision is -1 or above');
  // No reader of the feed would ever be sent what stands in another stream.
  if (!isEventStream(stream))
    throw new AppendRefused('a stream of events is called <category>-<tenant>.<subject>, and is none of claims');
  const encoded = events.map((event, at) => encodeEvent(append.tenantId, event, at === 0 ? claims : undefined));
  const bytes = encoded.reduce((sum, { size }) => sum + size, 0);
  if (bytes > MAX_APPEND_BYTES)
    throw new AppendRefused(`an append of ${bytes} bytes is larger than ${MAX_APPEND_BYTES}`);
  return encoded.map(({ event }) => event);
}

function encodeEvent(
  tenantId: TenantId,
  event: NewEvent,
  claims: ClaimNames | undefined,
): { event: OutgoingEvent; size: number } {
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
    const encoded: OutgoingEvent = {
      id: event.id,
      contentType: 'application/json',
      type: event.type,
      // Parsed to see that it can be: the server would keep what is no JSON, and no reader could read it.
      data: JSON.parse(event.data) as Record<string, unknown>,
      metadata: stored as unknown as Record<string, unknown>,
      texts: { data: event.data, metadata },
    };
    // As the server counts: text in UTF-8, the type in UTF-16.
    return {
      event: encoded,
      size: Buffer.byteLength(event.data) + Buffer.byteLength(metadata) + 2 * event.type.length,
    };
  } catch {
    // Without the cause: it would quote the data.
    throw new AppendRefused(`${event.type} cannot be written as JSON`);
  }
}

/** An event of another store, which keeps its time. */
export function encodeCopied({ tenantId, id, type, version, data, metadata, recordedAt }: StoredEvent): {
  event: OutgoingEvent;
  size: number;
} {
  const text = canonicalJson(data);
  const { event, size } = encodeEvent(tenantId, { id, type, version, data: text, metadata }, undefined);
  const copied = { recordedAt };
  const more = { ...(event.metadata as object), copied };
  return {
    event: { ...event, metadata: more, texts: { data: text, metadata: JSON.stringify(more) } },
    size: size + JSON.stringify({ copied }).length,
  };
}

/** Undefined for what the house did not write: system events, claims, fences, and whatever else shares the server. */
export function decodeEvent(raw: RawEvent): StoredEvent | undefined {
  const stored = envelopeOf(raw);
  if (!stored) return undefined;
  const {
    tenantId,
    version,
    $correlationId: _,
    $causationId: __,
    taken: ___,
    released: ____,
    copied,
    ...metadata
  } = stored;
  return {
    tenantId,
    id: raw.id,
    type: raw.type,
    version,
    stream: raw.streamId,
    revision: raw.revision,
    position: positionOfEvent(raw),
    recordedAt: copied?.recordedAt ?? raw.created.getTime(),
    get data() {
      return raw.data;
    },
    metadata,
  };
}

export function positionOfEvent({ position, streamId, revision }: RawEvent): Position {
  if (!position) throw new Error(`the server does not tell the position of ${streamId}@${revision}`);
  return positionOf(position.commit);
}

/** The streams of the claims that an event took. */
export const claimedBy = (raw: RawEvent): readonly string[] => envelopeOf(raw)?.taken ?? [];

/** The streams of the claims that an event gave up. */
export const releasedBy = (raw: RawEvent): readonly string[] => envelopeOf(raw)?.released ?? [];

/** The streams of the claims that came and went with an event. */
export function claimsIn(raw: RawEvent): ClaimNames {
  const { taken = [], released = [] } = envelopeOf(raw) ?? {};
  return { taken, released };
}

function envelopeOf({ metadata, position }: RawEvent): StoredMetadata | undefined {
  const { tenantId, version } = (metadata ?? {}) as Partial<StoredMetadata>;
  if (typeof tenantId !== 'string' || typeof version !== 'number') return undefined;
  if (position && position.commit !== position.prepare)
    throw new Error(`an event of the house at ${position.commit} was not written by it`);
  return metadata as unknown as StoredMetadata;
}
