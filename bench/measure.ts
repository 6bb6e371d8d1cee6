/** One comparison: the result of this application, that of its peer in the same run, and their ratio. */
export interface Row {
  readonly name: string;
  readonly ours: number;
  readonly peer: number;
  readonly peerName?: string;
  readonly unit: string;
  readonly ratio: number;
  /** The required ratio: `>= 7`. */
  readonly target: string;
}

export const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1]!;

/** Operations per second of `work`, which does `count` of them. */
export async function perSecond(count: number, work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return (count * 1000) / (performance.now() - started);
}

/** The results of one side, round by round. */
export type Rounds = readonly number[];

/** Runs the sides in turns, several rounds. */
export async function alternate(rounds: number, sides: readonly (() => Promise<number>)[]): Promise<Rounds[]> {
  const seen: number[][] = sides.map(() => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, side] of sides.entries()) {
      globalThis.gc?.();
      seen[index]!.push(await side());
    }
  }
  return seen;
}

/**
 * The medians of the rounds, and the median of their ratios: the machine's speed changes within seconds, and the sides
 * of a round met the same conditions.
 */
export function compare(
  name: string,
  unit: string,
  target: string,
  ours: number | Rounds,
  peer: number | Rounds,
  peerName?: string,
): Row {
  const [our, their] = [[ours].flat(), [peer].flat()];
  const ratio = median(our.map((value, round) => value / their[round]!));
  return { name, unit, target, ours: median(our), peer: median(their), ratio, ...(peerName ? { peerName } : {}) };
}

/** Spreads `count` calls over `callers` that each wait for their own call before the next. */
export async function concurrently(
  callers: number,
  count: number,
  call: (n: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const caller = async () => {
    for (let n = next++; n < count; n = next++) await call(n);
  };
  await Promise.all(Array.from({ length: callers }, caller));
}
