import { canonicalJson } from '../../kernel/canonical-json.ts';
import type { EventMetadata, Position } from '../../kernel/event.ts';
import { isUuid, type TenantId } from '../../kernel/ids.ts';
import { AppendRefused, MAX_APPEND_BYTES, type Append, type NewEvent, type StoredEvent } from '../port.ts';
import type { OutgoingEvent } from './outgoing-event.ts';
import { positionOf } from './positions.ts';
import { isEventStream } from './stream-names.ts';
import type { RawEvent } from './stream-reader.ts';

/**
 * The metadata of a stored event. The first event of an append also names the claims that the append claims and
 * releases.
 */
interface StoredMetadata extends EventMetadata {
  readonly tenantId: TenantId;
  readonly version: number;
  /** The server's names for the two ids, which its tools understand. */
  readonly $correlationId: string;
  readonly $causationId: string;
  readonly taken?: readonly string[];
  readonly released?: readonly string[];
  /** For an event copied from another store: its time there. The server records the time of the copy. */
  readonly copied?: { readonly recordedAt: number };
}

export interface ClaimNames {
  readonly taken: readonly string[];
  readonly released: readonly string[];
}

/** Checked here because neither client nor server reports what is wrong with an event. */
export function encodeEvents(append: Append, claims: ClaimNames): OutgoingEvent[] {
  const { stream, expectedRevision, events } = append;
  if (events.length === 0) throw new AppendRefused('an append needs at least one event');
  if (expectedRevision < -1n) throw new AppendRefused('expectedRevision must be -1 or above');
  // Readers of the log filter by stream name, and would never see another stream.
  if (!isEventStream(stream))
    throw new AppendRefused(
      'an event stream must be named <category>-<tenant>.<subject>, and must not be a claim stream',
    );
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
  if (!isUuid(event.id)) throw new AppendRefused('the id of an event must be a UUID');
  if (event.type.startsWith('$')) throw new AppendRefused('event types that begin with $ are reserved for the server');
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
      // Parsed as a check: the server accepts invalid JSON, and no reader could read it.
      data: JSON.parse(event.data) as Record<string, unknown>,
      metadata: stored as unknown as Record<string, unknown>,
      texts: { data: event.data, metadata },
    };
    // The server's size calculation: text in UTF-8, the type in UTF-16.
    return {
      event: encoded,
      size: Buffer.byteLength(event.data) + Buffer.byteLength(metadata) + 2 * event.type.length,
    };
  } catch {
    // Without the cause: it would contain the data.
    throw new AppendRefused(`${event.type} cannot be written as JSON`);
  }
}

/** Encodes an event of another store with its original time. */
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

/**
 * Undefined for records that are not our events: system events, claims, fences, and events of other applications on the
 * server.
 */
export function decodeEvent(raw: RawEvent): StoredEvent | undefined {
  const stored = envelopeOf(raw);
  if (!stored) return undefined;
  return {
    tenantId: stored.tenantId,
    id: raw.id,
    type: raw.type,
    version: stored.version,
    stream: raw.streamId,
    revision: raw.revision,
    position: positionOfEvent(raw),
    recordedAt: stored.copied?.recordedAt ?? raw.created.getTime(),
    // Not a getter: a page of events would keep the server's messages in memory, and collecting them takes longer than
    // parsing.
    data: raw.data,
    metadata: metadataIn(stored),
  };
}

/** What `StoredMetadata` adds. */
const ADDED: ReadonlySet<string> = new Set<Exclude<keyof StoredMetadata, keyof EventMetadata>>([
  'tenantId',
  'version',
  '$correlationId',
  '$causationId',
  'taken',
  'released',
  'copied',
]);

function metadataIn(stored: StoredMetadata): EventMetadata {
  const metadata: Record<string, unknown> = {};
  for (const name of Object.keys(stored)) if (!ADDED.has(name)) metadata[name] = stored[name as keyof StoredMetadata];
  return metadata as unknown as EventMetadata;
}

export function positionOfEvent({ position, streamId, revision }: RawEvent): Position {
  if (!position) throw new Error(`the server returned no position for ${streamId}@${revision}`);
  return positionOf(position.commit);
}

/** The streams of the claims that an event claimed. */
export const claimedBy = (raw: RawEvent): readonly string[] => envelopeOf(raw)?.taken ?? [];

/** The streams of the claims that an event released. */
export const releasedBy = (raw: RawEvent): readonly string[] => envelopeOf(raw)?.released ?? [];

/** The streams of the claims that an event claimed and released. */
export function claimsIn(raw: RawEvent): ClaimNames {
  const { taken = [], released = [] } = envelopeOf(raw) ?? {};
  return { taken, released };
}

function envelopeOf({ metadata, position }: RawEvent): StoredMetadata | undefined {
  const { tenantId, version } = (metadata ?? {}) as Partial<StoredMetadata>;
  if (typeof tenantId !== 'string' || typeof version !== 'number') return undefined;
  if (position && position.commit !== position.prepare)
    throw new Error(
      `the event at ${position.commit} has different commit and prepare positions, so this application did not write it`,
    );
  return metadata as unknown as StoredMetadata;
}
