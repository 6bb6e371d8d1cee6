import { randomUUID } from 'node:crypto';
import type { JSONEventData } from '@eventstore/db-client';
import type { TenantId } from '../../kernel/ids.ts';
import type { ClaimKey } from '../port.ts';
import type { RawEvent } from './stream-reader.ts';

/** Each claim has a stream of its own; its last event says who reserved or holds it. */
export const CLAIM_STREAMS = 'claim-';

export const claimStream = ({ tenantId, kind, digest }: ClaimKey): string =>
  `${CLAIM_STREAMS}${tenantId}.${kind}.${digest}`;

/** The claim that a stream is of. */
export function claimOfStream(name: string): ClaimKey {
  const [tenantId, kind, digest] = name.slice(CLAIM_STREAMS.length).split('.') as [TenantId, string, string];
  return { tenantId, kind, digest };
}

/** The event that takes a claim, and the place in its stream where it stands or is about to. */
export interface ClaimingEvent {
  readonly holder: string;
  readonly eventId: string;
  readonly revision: bigint;
}

/** The last word of a claim's stream, and the revision at which the next one goes. */
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
  /** As text: JSON has no 64-bit numbers. */
  readonly revision: string;
  /** The claim comes from another store: no event of the log names it. */
  readonly copied?: true;
}

// Neither claims nor fences carry an envelope, which is what keeps them out of every feed.
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
/** Takes the place in the holder's stream that an abandoned append was meant for, so that it can never arrive. */
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

/** The same was given up there before the copy was finished. */
export const releasedClaim = (holder: string): JSONEventData =>
  released({ holder, eventId: randomUUID(), revision: 0n });

/** Who holds a claim that was copied; undefined for any other word. */
export function copiedHolder({ type, data }: RawEvent): string | undefined {
  const { holder, copied } = data as unknown as ClaimData;
  return type === CONFIRMED && copied ? holder : undefined;
}

/** Who gave a claim up. */
export const releasedHolder = ({ type, data }: RawEvent): string | undefined =>
  type === RELEASED ? (data as unknown as ClaimData).holder : undefined;
