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

/** How far the log has been swept. The stream has the prefix of claim streams, so readers of events never see it. */
const PROGRESS = `${CLAIM_STREAMS}sweep`;
const PAGE = 1000;

/** An unsettled mention of a claim: the position before it, and the event that released the claim, if one did. */
interface Mention {
  readonly before: Position;
  readonly release?: RawEvent;
}

interface Progress {
  readonly position: Position;
  readonly revision: bigint;
}

/**
 * Goes over the log once, piece by piece, and finishes what crashes have left: reservations whose events never came,
 * and releases that were never noted. Claimers do the same when they find such claims, so the sweep is only tidying up.
 * Two concurrent sweeps do no harm.
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

  /** Returns how many claims it has settled. */
  async sweep(): Promise<number> {
    const progress = await this.#progress();
    const { open, position } = await this.#openClaims(progress.position);
    let settled = 0;
    let swept = position;
    for (const [claim, before] of open) {
      if (await this.#claims.settle(claim, new Deadline(this.#store.patience))) settled += 1;
      // Too recent to decide: the next sweep starts just before it.
      else if (before < swept) swept = before;
    }
    if (swept > progress.position) await this.#save({ ...progress, position: swept });
    return settled;
  }

  /** Returns the claims whose last mention in this part of the log needs work, and the position before it. */
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
        // A reservation whose event is in the log is done, unless a later event releases the claim.
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

  /** A lost race is no error: a faster sweep has saved its progress. */
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

/**
 * A process of an earlier version may have confirmed a claim after its release. Then the release still has to be noted.
 */
const confirmsReleased = (word: ClaimState, release: RawEvent | undefined): boolean =>
  word.word === 'confirmed' && release?.streamId === word.taking.holder && release.revision > word.taking.revision;
