/** One comparison: what this house does, what its peer does in the same run, and how they relate. */
export interface Row {
  readonly name: string;
  readonly ours: number;
  readonly peer: number;
  readonly peerName?: string;
  readonly unit: string;
  readonly ratio: number;
  /** What the ratio has to be, in words: `>= 7`. */
  readonly target: string;
}

export const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1]!;

/** Things per second of `work`, which does `count` of them. */
export async function perSecond(count: number, work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return (count * 1000) / (performance.now() - started);
}

/** Runs the sides in turns, several rounds, and answers the median of each: a slow minute hits all of them. */
export async function alternate(rounds: number, sides: readonly (() => Promise<number>)[]): Promise<number[]> {
  const seen: number[][] = sides.map(() => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, side] of sides.entries()) {
      globalThis.gc?.();
      seen[index]!.push(await side());
    }
  }
  return seen.map(median);
}

export const compare = (name: string, unit: string, target: string, ours: number, peer: number, peerName?: string): Row => ({
  name,
  unit,
  target,
  ours,
  peer,
  ratio: ours / peer,
  ...(peerName ? { peerName } : {}),
});

/** Spreads `count` calls over `callers` that each wait for their own call before the next. */
export async function concurrently(callers: number, count: number, call: (n: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const caller = async () => {
    for (let n = next++; n < count; n = next++) await call(n);
  };
  await Promise.all(Array.from({ length: callers }, caller));
}
