import { randomUUID } from 'node:crypto';
import type { JSONEventData } from '@eventstore/db-client';
import type { TenantId } from '../../kernel/ids.ts';
import type { ClaimKey } from '../port.ts';
import type { RawEvent } from './stream-reader.ts';

/** Each claim has its own stream. The last event names the stream that reserved or holds it. */
export const CLAIM_STREAMS = 'claim-';

export const claimStream = ({ tenantId, kind, digest }: ClaimKey): string =>
  `${CLAIM_STREAMS}${tenantId}.${kind}.${digest}`;

/** The claim to which a stream belongs. */
export function claimOfStream(name: string): ClaimKey {
  const [tenantId, kind, digest] = name.slice(CLAIM_STREAMS.length).split('.') as [TenantId, string, string];
  return { tenantId, kind, digest };
}

/** The claiming event, and its (possibly future) revision in the holder's stream. */
export interface ClaimingEvent {
  readonly holder: string;
  readonly eventId: string;
  readonly revision: bigint;
}

/** The last word of a claim's stream, and the stream's revision. */
export type ClaimState =
  | { readonly word: 'free'; readonly at: bigint }
  | {
      readonly word: 'reserved' | 'confirmed';
      readonly at: bigint;
      readonly taking: ClaimingEvent;
      readonly recordedAt: number;
    };

const RESERVED = 'ClaimReserved';
const CONFIRMED = 'ClaimConfirmed';
const RELEASED = 'ClaimReleased';
const FENCED = 'StreamFenced';

export const NEVER_CLAIMED: ClaimState = { word: 'free', at: -1n };

interface ClaimData {
  readonly holder: string;
  readonly eventId: string;
  /** A string, because JSON has no 64-bit integers. */
  readonly revision: string;
  /** The claim was copied from another store: no event of the log names it. */
  readonly copied?: true;
}

// Claims and fences have no envelope, so that readers of events never see them.
const claimEvent = (type: string, { holder, eventId, revision }: ClaimingEvent): JSONEventData => ({
  id: randomUUID(),
  contentType: 'application/json',
  type,
  data: { holder, eventId, revision: String(revision) } satisfies ClaimData,
  metadata: undefined,
});

export const reserved = (taking: ClaimingEvent): JSONEventData => claimEvent(RESERVED, taking);
/** Written by earlier versions, and still read. */
export const confirmed = (taking: ClaimingEvent): JSONEventData => claimEvent(CONFIRMED, taking);
export const released = (taking: ClaimingEvent): JSONEventData => claimEvent(RELEASED, taking);
/**
 * Occupies the revision in the holder's stream that an abandoned append was meant for, so that the append can never
 * succeed.
 */
export const fence = (taking: ClaimingEvent): JSONEventData => claimEvent(FENCED, taking);

export function claimState(last: RawEvent | undefined): ClaimState {
  if (!last) return NEVER_CLAIMED;
  const { type, revision: at } = last;
  if (type !== RESERVED && type !== CONFIRMED) return { word: 'free', at };
  const { holder, eventId, revision } = last.data as unknown as ClaimData;
  const taking = { holder, eventId, revision: BigInt(revision) };
  return { word: type === RESERVED ? 'reserved' : 'confirmed', at, taking, recordedAt: last.created.getTime() };
}

/** A claim of a log that was copied from another store. */
export function copiedClaim(taking: ClaimingEvent): JSONEventData {
  const word = confirmed(taking);
  return { ...word, data: { ...(word.data as unknown as ClaimData), copied: true } } as JSONEventData;
}

/** A copied claim that was released in the other store before the copy was finished. */
export const releasedClaim = (holder: string): JSONEventData =>
  released({ holder, eventId: randomUUID(), revision: 0n });

/** The holder of a copied claim; undefined for any other event. */
export function copiedHolder({ type, data }: RawEvent): string | undefined {
  const { holder, copied } = data as unknown as ClaimData;
  return type === CONFIRMED && copied ? holder : undefined;
}

/** The stream that released a claim. */
export const releasedHolder = ({ type, data }: RawEvent): string | undefined =>
  type === RELEASED ? (data as unknown as ClaimData).holder : undefined;
