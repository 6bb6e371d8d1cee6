/**
 * A keyed mutex: one at a time for each name, in the order of the calls; different names side by side. The executor takes the commands
 * on one stream so: within one process they would only lose races to each other, and of many at once some would lose too often.
 * Other processes are still met at the append. (The libraries for this, async-mutex and p-limit, lock without keys: a map of their
 * locks that is cleaned up would be as long.)
 */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>();

  async run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(name);
    // A failure is told to its own caller only.
    const turn = before ? before.then(work, work) : work();
    this.#last.set(name, turn);
    try {
      return await turn;
    } finally {
      if (this.#last.get(name) === turn) this.#last.delete(name);
    }
  }
}
