import { UnmetExpectation } from '../cli/outcome.ts';

/** Where the demo prints: lines for people, in colours if the terminal has them. */
export interface DemoTerminal {
  readonly say: (line: string) => void;
  readonly hasColours: boolean;
}

export interface DemoStep {
  readonly chapter: string;
  readonly step: string;
  readonly result: string;
  readonly seconds: number;
}

/** The demo's output: one line per step, with its duration. */
export class DemoOutput {
  readonly say: (line: string) => void;
  /** Every step that succeeded, in order. */
  readonly steps: DemoStep[] = [];
  readonly #hasColours: boolean;
  #chapter = '';

  constructor({ say, hasColours }: DemoTerminal) {
    this.say = say;
    this.#hasColours = hasColours;
  }

  chapter(title: string): void {
    this.#chapter = title;
    this.say('');
    this.say(this.#paint(1, title));
  }

  /** Runs a step and prints its result. A step that throws ends the demo. */
  async step<T>(what: string, work: () => Promise<T>, describe: (result: T, seconds: number) => string): Promise<T> {
    const started = performance.now();
    const result = await work();
    const seconds = (performance.now() - started) / 1000;
    const described = describe(result, seconds);
    this.steps.push({ chapter: this.#chapter, step: what, result: described, seconds: Number(seconds.toFixed(3)) });
    this.say(
      `  ${this.#paint(32, '✓')} ${what.padEnd(34)} ${described} ${this.#paint(2, `(${seconds.toFixed(2)} s)`)}`,
    );
    return result;
  }

  #paint(code: number, text: string): string {
    return this.#hasColours ? `\u001b[${code}m${text}\u001b[0m` : text;
  }
}

export const perSecond = (count: number, seconds: number): string =>
  `${Math.round(count / Math.max(seconds, 0.001)).toLocaleString('en')}/s`;

/** Fails the demo if an expectation does not hold. */
export function assertDemo(holds: boolean, what: string): asserts holds {
  if (!holds) throw new UnmetExpectation(`the demo expected that ${what}`);
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
