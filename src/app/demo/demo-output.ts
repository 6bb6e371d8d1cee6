/** The demo's output: one line per step, with its duration. */
export interface DemoOutput {
  chapter(title: string): void;
  /** Runs a step and prints its result. A step that throws ends the demo. */
  step<T>(what: string, work: () => Promise<T>, describe: (result: T, seconds: number) => string): Promise<T>;
}

const colour = process.stdout.isTTY && !process.env['NO_COLOR'];
const paint = (code: number, text: string) => (colour ? `\u001b[${code}m${text}\u001b[0m` : text);

export const demoOutput: DemoOutput = {
  chapter: (title) => console.log(`\n${paint(1, title)}`),
  async step(what, work, describe) {
    const started = performance.now();
    const result = await work();
    const seconds = (performance.now() - started) / 1000;
    console.log(
      `  ${paint(32, '✓')} ${what.padEnd(34)} ${describe(result, seconds)} ${paint(2, `(${seconds.toFixed(2)} s)`)}`,
    );
    return result;
  },
};

export const perSecond = (count: number, seconds: number): string =>
  `${Math.round(count / Math.max(seconds, 0.001)).toLocaleString('en')}/s`;

/** Fails the demo if an expectation does not hold. */
export function assertDemo(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(`the demo expected that ${what}`);
}

/** Runs `work` on all items, at most `limit` at once. Results are in input order. */
export async function runConcurrently<T, R>(
  limit: number,
  items: readonly T[],
  work: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < items.length; index = next++) results[index] = await work(items[index]!, index);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  return results;
}
