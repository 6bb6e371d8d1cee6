import type { Position } from '../../kernel/event.ts';
import { asTenantId } from '../../kernel/ids.ts';
import type { ClaimKey, StoredEvent } from '../port.ts';
import { copiedHolder, releasedHolder } from './claim-stream.ts';
import { claimsIn, decodeEvent } from './event-encoding.ts';
import type { AllStreamReader } from './all-stream-reader.ts';
import type { RawEvent } from './stream-reader.ts';
import { EVENT_CLAIM_AND_METADATA_STREAMS } from './stream-names.ts';

/** A fact in the log that a copy to another store needs. Facts are in log order. */
export type LogFact =
  | {
      readonly kind: 'event';
      readonly event: StoredEvent;
      readonly taken: readonly ClaimKey[];
      readonly released: readonly ClaimKey[];
    }
  /** A claim that was copied from another store (`held`), or released after that (`freed`). */
  | { readonly kind: 'held' | 'freed'; readonly claim: ClaimKey; readonly holder: string }
  /**
   * Events of the stream before this revision are deleted for every reader; the others expire after `maxAgeSeconds`.
   */
  | {
      readonly kind: 'metadata';
      readonly stream: string;
      readonly truncatedBefore: bigint;
      readonly maxAgeSeconds: number | undefined;
    };

export interface FactPage {
  readonly facts: readonly LogFact[];
  readonly position: Position;
  readonly more: boolean;
}

/**
 * Reads events, claims and retention as one history. The claiming events determine which claims are held
 * (`ClaimRegister`).
 */
export class LogExport {
  readonly #feed: AllStreamReader;

  constructor(feed: AllStreamReader) {
    this.#feed = feed;
  }

  async read(after: Position, limit: number): Promise<FactPage> {
    const { found, position, more } = await this.#feed.scan(after, limit, EVENT_CLAIM_AND_METADATA_STREAMS, factOf);
    return { facts: found, position, more };
  }
}

function factOf(raw: RawEvent): LogFact | undefined {
  if (raw.streamId.startsWith('$$')) return metadataFact(raw);
  const claim = claimOf(raw.streamId);
  if (claim) {
    const held = copiedHolder(raw);
    if (held !== undefined) return { kind: 'held', claim, holder: held };
    const freed = releasedHolder(raw);
    return freed === undefined ? undefined : { kind: 'freed', claim, holder: freed };
  }
  const event = decodeEvent(raw);
  if (!event) return undefined;
  const { taken, released } = claimsIn(raw);
  return { kind: 'event', event, taken: taken.map(mustBeClaim), released: released.map(mustBeClaim) };
}

function metadataFact(raw: RawEvent): LogFact {
  const { $tb, $maxAge } = raw.data as { $tb?: number; $maxAge?: number };
  const truncatedBefore = Number.isSafeInteger($tb) ? BigInt($tb!) : 0n;
  return { kind: 'metadata', stream: raw.streamId.slice(2), truncatedBefore, maxAgeSeconds: $maxAge };
}

const CLAIM = /^claim-([0-9a-f-]{36})\.(.+)\.([0-9a-f]+)$/;

function claimOf(stream: string): ClaimKey | undefined {
  const [, tenantId, kind, digest] = CLAIM.exec(stream) ?? [];
  return tenantId === undefined ? undefined : { tenantId: asTenantId(tenantId), kind: kind!, digest: digest! };
}

function mustBeClaim(stream: string): ClaimKey {
  const claim = claimOf(stream);
  if (!claim) throw new Error(`${stream} is not a claim stream`);
  return claim;
}
