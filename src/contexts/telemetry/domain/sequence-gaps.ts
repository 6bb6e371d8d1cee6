/** Numbers from `first` to `last`, inclusive. */
export type SequenceRange = readonly [first: number, last: number];

/** The state of a device's batch counter (choice OP-153). */
export interface Sequence {
  readonly last: number;
  /** Missing numbers, ascending; a late batch closes its gap. */
  readonly missing: readonly SequenceRange[];
  /** Number of missing batches in gaps that are no longer listed, because there were too many. */
  readonly unlisted: number;
}

const MAX_RANGES = 50;

/** Counting begins at the first number received. */
export function withBatchCounted(known: Sequence | undefined, number: number): Sequence {
  if (!known) return { last: number, missing: [], unlisted: 0 };
  if (number > known.last)
    return number === known.last + 1
      ? { ...known, last: number }
      : listed({ ...known, last: number, missing: [...known.missing, [known.last + 1, number - 1]] });
  return listed({ ...known, missing: known.missing.flatMap((range) => without(range, number)) });
}

function without([first, last]: SequenceRange, number: number): SequenceRange[] {
  if (number < first || number > last) return [[first, last]];
  const rest: SequenceRange[] = [
    [first, number - 1],
    [number + 1, last],
  ];
  return rest.filter(([from, to]) => from <= to);
}

function listed(sequence: Sequence): Sequence {
  const surplus = sequence.missing.slice(0, Math.max(0, sequence.missing.length - MAX_RANGES));
  return {
    ...sequence,
    missing: sequence.missing.slice(surplus.length),
    unlisted: sequence.unlisted + batchesIn(surplus),
  };
}

const batchesIn = (ranges: readonly SequenceRange[]): number =>
  ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0);

export const missingBatches = ({ missing, unlisted }: Sequence): number => batchesIn(missing) + unlisted;
