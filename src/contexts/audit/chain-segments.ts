import { GENESIS, type ChainHead } from './domain/entry.ts';
import type { Position } from '../../platform/kernel/event.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import { BELOW_FIRST_POSITION, type AuditTable } from './audit-table.ts';
import type { ChainSegment, SegmentResult } from './segment-verification.ts';

/** Verifies segments of a chain in parallel. */
export interface SegmentVerifiers {
  /** Number of segments that are verified at a time. */
  readonly count: number;
  walk(stretch: ChainSegment): Promise<SegmentResult>;
  close(): Promise<void>;
}

export interface SegmentVerification {
  /** Returns undefined while another chain is being verified. */
  open(): SegmentVerifiers | undefined;
  /** Entries per segment. */
  readonly stretch: number;
}

/** The part of a chain that was verified in segments. */
export interface VerifiedPrefix {
  readonly head: ChainHead;
  readonly position: Position;
}

/** Shorter chains, in segments, are verified on the caller's thread: starting threads would take longer. */
const WORTH_WALKERS = 2;

/**
 * Verifies the beginning of a long chain in parallel segments and yields the results in order. The remainder is shorter
 * than a segment.
 *
 * The head at the start of a segment comes from the table. It is trusted only once the segment before has arrived at
 * the same head. The first segment that does not agree is the last result. If a segment could not be verified, no
 * result follows.
 */
export async function* verifySegments(
  { open, stretch: size }: SegmentVerification,
  table: AuditTable,
  tenantId: TenantId,
  until: Position,
): AsyncGenerator<SegmentResult & VerifiedPrefix> {
  const { head_sequence: entries } = await table.ends();
  if ((entries ?? 0) < WORTH_WALKERS * size) return;
  const walkers = open();
  if (!walkers) return;
  try {
    const underWay: {
      readonly stretch: ChainSegment;
      readonly claimed: ChainHead;
      readonly walked: Promise<SegmentResult>;
    }[] = [];
    let from: VerifiedPrefix | undefined = { head: GENESIS, position: 0n };
    for (;;) {
      while (from && underWay.length < 2 * walkers.count) {
        const cut: VerifiedPrefix | undefined = await table.cut(from.position, until, size);
        if (cut) {
          const stretch = {
            tenantId,
            from,
            after: from.position === 0n ? BELOW_FIRST_POSITION : from.position,
            upTo: cut.position,
          };
          const walked = walkers.walk(stretch);
          walked.catch(() => undefined); // handled where it is awaited
          underWay.push({ stretch, claimed: cut.head, walked });
        }
        from = cut;
      }
      const oldest = underWay.shift();
      if (!oldest) return;
      const walked = await oldest.walked.catch(() => undefined);
      if (!walked) return; // the sequential walk over the rest reports an unreachable database
      const fits =
        walked.agrees && walked.end.sequence === oldest.claimed.sequence && walked.end.hash === oldest.claimed.hash;
      yield { ...walked, agrees: fits, head: oldest.claimed, position: oldest.stretch.upTo };
      if (!fits) return;
    }
  } finally {
    await walkers.close();
  }
}
