import { fork, type ChildProcess } from 'node:child_process';
import { bundle, type Bundle } from './bundle.ts';
import { medianOf, type Median } from './interval.ts';
import { parts, type Workload } from './parts.ts';

const PROGRAM = new URL('program.ts', import.meta.url);
/** A gain below this does not justify its code. */
const WORTH = 1.1;
const ROUNDS = 15;
/** Each with new processes and a new database, so that chance effects of one do not affect the next. */
const SETS = 2;

/** A process with the program, complete or without a part. */
class Side {
  readonly #child: ChildProcess;

  constructor({ main }: Bundle, workload: Workload) {
    this.#child = fork(main, [workload], { execArgv: ['--expose-gc'] });
  }

  ready(): Promise<number> {
    return new Promise((resolve, reject) => {
      const ended = (code: number | null) => reject(new Error(`a side ended with ${code}`));
      this.#child.once('exit', ended);
      this.#child.once('message', (rate) => {
        this.#child.off('exit', ended);
        resolve(rate as number);
      });
    });
  }

  round(): Promise<number> {
    const answer = this.ready();
    this.#child.send('round');
    return answer;
  }

  stop(): Promise<void> {
    const ended = new Promise<void>((resolve) => this.#child.once('exit', () => resolve()));
    this.#child.send('stop');
    return ended;
  }
}

/**
 * By part, the ratios of rounds with it to rounds without it. The sides of a round alternate, and each round begins
 * with another one.
 */
async function ratiosOf(
  whole: Bundle,
  reduced: ReadonlyMap<string, Bundle>,
  workload: Workload,
): Promise<ReadonlyMap<string, number[]>> {
  const ratios = new Map([...reduced.keys()].map((name): [string, number[]] => [name, []]));
  for (let set = 0; set < SETS; set += 1) {
    const sides = [whole, ...reduced.values()].map((bundle) => new Side(bundle, workload));
    try {
      for (const side of sides) await side.ready();
      for (const side of sides) await side.round(); // The first round is a warm-up.
      for (let round = 0; round < ROUNDS; round += 1) {
        const rates = sides.map(() => 0);
        for (const turn of sides.keys()) {
          const at = (round % 2 === 0 ? turn + round : sides.length - 1 - turn + round) % sides.length;
          rates[at] = await sides[at]!.round();
        }
        for (const [index, name] of [...reduced.keys()].entries())
          ratios.get(name)!.push(rates[0]! / rates[index + 1]!);
      }
    } finally {
      await Promise.all(sides.map((side) => side.stop()));
    }
  }
  return ratios;
}

const verdictOf = ({ low, high }: Median): string =>
  low >= WORTH ? 'gains a tenth' : high < WORTH ? 'gains less than a tenth' : 'undecided';

function print(name: string, workload: Workload, ratios: readonly number[]): void {
  const gain = medianOf(ratios);
  const [middle, low, high] = [gain.median, gain.low, gain.high].map((value) => value.toFixed(2));
  console.log(`${name}, ${workload}: ${middle} (95 %: ${low} to ${high}, ${ratios.length} rounds), ${verdictOf(gain)}`);
}

/**
 * `npm run bench -- without <part | all> [workload…]`: the parts that matter to a workload are measured in the same
 * rounds.
 */
export async function measureWithout([asked, ...only]: readonly string[]): Promise<void> {
  const wanted = Object.entries(parts).filter(([name]) => asked === 'all' || name === asked);
  if (wanted.length === 0) throw new Error(`name a part to remove: ${Object.keys(parts).join(', ')}, or all`);
  const whole = await bundle(PROGRAM, undefined);
  const bundles = new Map<string, Bundle>();
  for (const [name, part] of wanted) bundles.set(name, await bundle(PROGRAM, part));
  try {
    for (const workload of new Set(wanted.flatMap(([, part]) => part.workloads))) {
      if (only.length > 0 && !only.includes(workload)) continue;
      const concerned = wanted.filter(([, part]) => part.workloads.includes(workload));
      const reduced = new Map(concerned.map(([name]) => [name, bundles.get(name)!]));
      for (const [name, ratios] of await ratiosOf(whole, reduced, workload)) print(name, workload, ratios);
    }
  } finally {
    for (const { remove } of [whole, ...bundles.values()]) remove();
  }
}
