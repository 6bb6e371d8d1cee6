import { GENESIS, type ChainHead } from './domain/entry.ts';
import type { Position } from '../../platform/kernel/event.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import { BELOW_FIRST_POSITION, type AuditTable } from './audit-table.ts';
import type { ChainSegment, SegmentResult } from './segment-verification.ts';

/** Who walks stretches of a chain beside each other. */
export interface SegmentVerifiers {
  /** How many stretches are walked at a time. */
  readonly count: number;
  walk(stretch: ChainSegment): Promise<SegmentResult>;
  close(): Promise<void>;
}

export interface SegmentVerification {
  /** Undefined while they are at another chain. */
  open(): SegmentVerifiers | undefined;
  /** Entries in a stretch. */
  readonly stretch: number;
}

/** As far as a chain was walked in stretches. */
export interface VerifiedPrefix {
  readonly head: ChainHead;
  readonly position: Position;
}

/** Shorter chains are walked by who asks, before a thread would have begun. */
const WORTH_WALKERS = 2;

/**
 * Walks the beginning of a long chain in stretches, several at a time, and gives them in their order; what is left is shorter than a stretch.
 * Where a stretch begins, the table says how far the chain had come: that is believed only until the stretch before has come to the same
 * head. The first that does not fit is the last that is given; behind one that could not be walked there are none.
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
          walked.catch(() => undefined); // looked at where it is awaited
          underWay.push({ stretch, claimed: cut.head, walked });
        }
        from = cut;
      }
      const oldest = underWay.shift();
      if (!oldest) return;
      const walked = await oldest.walked.catch(() => undefined);
      if (!walked) return; // whoever walks the rest sees whether the databases can be reached
      const fits =
        walked.agrees && walked.end.sequence === oldest.claimed.sequence && walked.end.hash === oldest.claimed.hash;
      yield { ...walked, agrees: fits, head: oldest.claimed, position: oldest.stretch.upTo };
      if (!fits) return;
    }
  } finally {
    await walkers.close();
  }
}
