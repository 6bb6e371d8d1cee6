import { availableParallelism } from 'node:os';
import { Thread } from '../threads/thread.ts';
import type { Walkers, Walking } from './stretches.ts';
import type { Stretch, Walked } from './walk.ts';
import type { WalkerData } from './walker-thread.ts';

const ENTRY = new URL('walker-thread.ts', import.meta.url);
const MOST = 4;
/** Some tenths of a second of walking. */
const STRETCH = 10_000;

/** One chain at a time: however many tenants ask at once, this process takes no more cores and connections than these. */
let taken = false;

/** Walks in threads, a core for each, with two database connections of their own: whoever is served meanwhile keeps this thread to themselves. */
export const walkInThreads = (data: WalkerData, stretch = STRETCH): Walking => ({
  stretch,
  open: () => (taken ? undefined : new WalkingThreads(data)),
});

class WalkingThreads implements Walkers {
  readonly count = Math.min(MOST, availableParallelism());
  readonly #threads: Thread<Stretch, Walked>[];
  #turn = 0;

  constructor(data: WalkerData) {
    this.#threads = Array.from({ length: this.count }, () => new Thread<Stretch, Walked>(ENTRY, data));
    taken = true;
  }

  walk(stretch: Stretch): Promise<Walked> {
    this.#turn = (this.#turn + 1) % this.count;
    return this.#threads[this.#turn]!.ask(stretch);
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.close())).finally(() => (taken = false));
  }
}
