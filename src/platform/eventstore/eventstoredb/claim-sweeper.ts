import { randomUUID } from 'node:crypto';
import { END } from '@eventstore/db-client';
import { START, type Position } from '../../kernel/event.ts';
import type { ClaimRegister } from './claim-register.ts';
import { CLAIM_STREAMS, claimState, type ClaimState } from './claim-stream.ts';
import { Deadline } from './deadline.ts';
import { positionOfEvent, releasedBy, claimedBy } from './event-encoding.ts';
import type { AllStreamReader } from './all-stream-reader.ts';
import { setStreamMetadata, type StoreAccess } from './stream-metadata.ts';
import type { RawEvent } from './stream-reader.ts';
import { EVENT_AND_CLAIM_STREAMS } from './stream-names.ts';

/** How far the log has been swept. It shares the prefix of the claims, and with it the silence about them. */
const PROGRESS = `${CLAIM_STREAMS}sweep`;
const PAGE = 1000;

/** Where a claim was mentioned that is still to be settled: the position before, and the event that released it, if one did. */
interface Mention {
  readonly before: Position;
  readonly release?: RawEvent;
}

interface Progress {
  readonly position: Position;
  readonly revision: bigint;
}

/**
 * Goes over the log once, piece by piece, and brings to an end what crashes have left: reservations whose events never
 * came, releases that were never noted down. Takers do that as well when they meet it; so this is tidiness, not safety,
 * and two sweeps at a time do no harm.
 */
export class ClaimSweeper {
  readonly #store: StoreAccess;
  readonly #feed: AllStreamReader;
  readonly #claims: ClaimRegister;

  constructor(store: StoreAccess, feed: AllStreamReader, claims: ClaimRegister) {
    this.#store = store;
    this.#feed = feed;
    this.#claims = claims;
  }

  /** Answers how many claims it has settled. */
  async sweep(): Promise<number> {
    const progress = await this.#progress();
    const { open, position } = await this.#openClaims(progress.position);
    let settled = 0;
    let swept = position;
    for (const [claim, before] of open) {
      if (await this.#claims.settle(claim, new Deadline(this.#store.patience))) settled += 1;
      // Too young to be judged: the next sweep begins just before it.
      else if (before < swept) swept = before;
    }
    if (swept > progress.position) await this.#save({ ...progress, position: swept });
    return settled;
  }

  /** The claims whose last mention in this part of the log leaves something to do, and the position before that. */
  async #openClaims(after: Position): Promise<{ open: Map<string, Position>; position: Position }> {
    const open = new Map<string, Mention>();
    let position = after;
    for (;;) {
      const {
        found,
        position: reached,
        more,
      } = await this.#feed.scan(position, PAGE, EVENT_AND_CLAIM_STREAMS, (raw) => raw);
      for (const raw of found) {
        // A reservation whose event stands in the log needs nothing more, unless a later event releases the claim.
        for (const claim of claimedBy(raw)) open.delete(claim);
        for (const claim of releasedBy(raw)) open.set(claim, { before: position, release: raw });
        if (raw.streamId.startsWith(CLAIM_STREAMS) && raw.streamId !== PROGRESS) {
          const word = claimState(raw);
          if (word.word === 'reserved') open.set(raw.streamId, { before: position });
          else if (!confirmsReleased(word, open.get(raw.streamId)?.release)) open.delete(raw.streamId);
        }
        position = positionOfEvent(raw);
      }
      position = reached;
      if (!more) return { open: new Map([...open].map(([claim, { before }]) => [claim, before])), position };
    }
  }

  async #progress(): Promise<Progress> {
    const [last] = await this.#store.reader.backwards(PROGRESS, END, 1);
    if (!last) return { position: START, revision: -1n };
    const { position } = last.data as unknown as { position: string };
    return { position: BigInt(position), revision: last.revision };
  }

  /** Another sweep that was faster has saved as much. */
  async #save({ position, revision }: Progress): Promise<void> {
    const { writer, patience: timeoutMs } = this.#store;
    if (revision < 0n) await setStreamMetadata(this.#store, PROGRESS, '$maxCount', 1);
    const event = {
      id: randomUUID(),
      contentType: 'application/json' as const,
      type: 'ClaimsSwept',
      data: { position: String(position) },
      metadata: undefined,
    };
    await writer.write(PROGRESS, revision, [event], new Deadline(timeoutMs));
  }
}

/** A process of an earlier version may have confirmed a claim after it was released. Then the release still has to be noted down. */
const confirmsReleased = (word: ClaimState, release: RawEvent | undefined): boolean =>
  word.word === 'confirmed' && release?.streamId === word.taking.holder && release.revision > word.taking.revision;
