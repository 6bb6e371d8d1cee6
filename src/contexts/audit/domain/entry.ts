import { streamSubject } from '../../../platform/kernel/aggregate.ts';
import type { EventMetadata } from '../../../platform/kernel/event.ts';
import { canonicalJson, quoted } from '../../../platform/kernel/canonical-json.ts';
import type { ChainKey } from './chain-key.ts';
import type { AuditTerms } from './vocabulary.ts';

/** An event as the store holds it. Personal values are sealed, so that erasing a person changes no entry. */
export interface AuditedEvent {
  readonly id: string;
  readonly type: string;
  readonly stream: string;
  readonly revision: bigint;
  /** Epoch milliseconds. */
  readonly recordedAt: number;
  readonly metadata: EventMetadata;
}
export interface StoredData {
  readonly version: number;
  readonly data: unknown;
  /** Canonical JSON of the data, if the caller already has it. */
  readonly text?: string | undefined;
}

/** The end of a chain: the sequence and the hash of its last entry. */
export interface ChainHead {
  readonly sequence: number;
  readonly hash: string;
}

/** The head before the first entry (OP-248). */
export const GENESIS: ChainHead = { sequence: 0, hash: '0'.repeat(64) };

/**
 * One entry of a tenant's audit chain. `details` and `event` are canonical JSON texts, exactly as they were hashed.
 *
 * `event` holds the rest of the event's envelope: stream, revision, version and causes. Without it, a row of the log
 * could be moved to another stream or version without changing a hash.
 */
export interface AuditEntry extends ChainHead {
  readonly id: string;
  /** ISO 8601, milliseconds. */
  readonly timestamp: string;
  readonly actorId: string | null;
  readonly actorType: string;
  readonly action: string;
  readonly resourceType: string;
  readonly resourceId: string;
  readonly details: string;
  readonly event: string;
  readonly ipAddress: string | null;
  readonly userAgent: string | null;
  readonly previousHash: string;
}
export type Unhashed = Omit<AuditEntry, 'hash'>;

/** hash = hex HMAC-SHA256(key, previousHash + canonical JSON of the entry without its hash) (OP-248). */
export const entryHash = (key: ChainKey, entry: Unhashed, canonical = canonicalEntry(entry)): string =>
  key.mac(entry.previousHash, canonical);

/** The entry that an event adds after `head`, still without its hash (`entryHash`). */
export function entryAfter(head: ChainHead, event: AuditedEvent, stored: StoredData, words: AuditTerms): Unhashed {
  const { actor } = event.metadata;
  return {
    sequence: head.sequence + 1,
    id: event.id,
    timestamp: new Date(event.recordedAt).toISOString(),
    actorId: actor.id,
    actorType: actor.kind,
    action: words.action,
    resourceType: words.resourceType,
    resourceId: resourceIdOf(event.stream, stored, words.idField),
    details: stored.text ?? canonicalJson(stored.data),
    event: canonicalEnvelope(event, stored.version),
    ipAddress: actor.ip ?? null,
    userAgent: actor.userAgent ?? null,
    previousHash: head.hash,
  };
}

function resourceIdOf(stream: string, stored: StoredData, idField: string | undefined): string {
  const named = idField === undefined ? undefined : (stored.data as Record<string, unknown> | null)?.[idField];
  return typeof named === 'string' ? named : streamSubject(stream);
}

/** Members are in the order of RFC 8785, so nothing needs sorting. */
export function canonicalEntry(entry: Unhashed): string {
  return (
    `{"action":${quoted(entry.action)},"actorId":${canonicalJson(entry.actorId)},"actorType":${canonicalJson(entry.actorType)},` +
    `"details":${entry.details},"event":${entry.event},"id":${quoted(entry.id)},"ipAddress":${canonicalJson(entry.ipAddress)},` +
    `"previousHash":${quoted(entry.previousHash)},"resourceId":${quoted(entry.resourceId)},` +
    `"resourceType":${quoted(entry.resourceType)},"sequence":${entry.sequence},"timestamp":${quoted(entry.timestamp)},` +
    `"userAgent":${canonicalJson(entry.userAgent)}}`
  );
}

function canonicalEnvelope({ metadata, revision, stream, type }: AuditedEvent, version: number): string {
  const { correlationId, causationId, commandId } = metadata;
  return `[${quoted(type)},${version},${quoted(stream)},${revision},${canonicalJson(correlationId)},${canonicalJson(causationId)},${canonicalJson(commandId)}]`;
}
