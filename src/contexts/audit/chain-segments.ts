import { GENESIS, type ChainHead } from './domain/entry.ts';
import type { Position } from '../../platform/kernel/event.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import { BELOW_FIRST_POSITION, type AuditTable } from './audit-table.ts';
import type { ChainSegment, SegmentResult } from './segment-verification.ts';

/** Verifies segments of a chain in parallel. */
export interface SegmentVerifiers {
  /** Number of segments that are verified at a time. */
  readonly count: number;
  verify(segment: ChainSegment): Promise<SegmentResult>;
  close(): Promise<void>;
}

export interface SegmentVerification {
  /** Returns undefined while another chain is being verified. */
  open(): SegmentVerifiers | undefined;
  /** Entries per segment. */
  readonly size: number;
}

/** The part of a chain that was verified in segments. */
export interface VerifiedPrefix {
  readonly head: ChainHead;
  readonly position: Position;
}

/** Shorter chains, in segments, are verified on the caller's thread: starting threads would take longer. */
const WORTH_THREADS = 2;

/**
 * Verifies the beginning of a long chain in parallel segments and yields the results in order. The remainder is shorter
 * than a segment.
 *
 * The head at the start of a segment comes from the table. It is trusted only once the segment before has arrived at
 * the same head. The first segment that does not agree is the last result. If a segment could not be verified, no
 * result follows.
 */
export async function* verifySegments(
  { open, size }: SegmentVerification,
  table: AuditTable,
  tenantId: TenantId,
  until: Position,
): AsyncGenerator<SegmentResult & VerifiedPrefix> {
  const { head_sequence: entries } = await table.ends();
  if ((entries ?? 0) < WORTH_THREADS * size) return;
  const verifiers = open();
  if (!verifiers) return;
  try {
    const underWay: {
      readonly segment: ChainSegment;
      readonly claimed: ChainHead;
      readonly result: Promise<SegmentResult>;
    }[] = [];
    let from: VerifiedPrefix | undefined = { head: GENESIS, position: 0n };
    for (;;) {
      while (from && underWay.length < 2 * verifiers.count) {
        const cut: VerifiedPrefix | undefined = await table.cut(from.position, until, size);
        if (cut) {
          const segment = {
            tenantId,
            from,
            after: from.position === 0n ? BELOW_FIRST_POSITION : from.position,
            upTo: cut.position,
          };
          const result = verifiers.verify(segment);
          result.catch(() => undefined); // handled where it is awaited
          underWay.push({ segment, claimed: cut.head, result });
        }
        from = cut;
      }
      const oldest = underWay.shift();
      if (!oldest) return;
      const result = await oldest.result.catch(() => undefined);
      if (!result) return; // the sequential verification of the rest reports an unreachable database
      const fits =
        result.agrees && result.end.sequence === oldest.claimed.sequence && result.end.hash === oldest.claimed.hash;
      yield { ...result, agrees: fits, head: oldest.claimed, position: oldest.segment.upTo };
      if (!fits) return;
    }
  } finally {
    await verifiers.close();
  }
}
