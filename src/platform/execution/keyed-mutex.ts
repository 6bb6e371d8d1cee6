/**
 * A keyed mutex: work with one name runs one at a time, in the order of the calls; different names run in parallel. The
 * executor uses it for commands on one stream: within one process they would only lose races to each other, and some
 * too often. Commands of other processes are still detected at the append. (async-mutex and p-limit lock without keys;
 * a map of their locks with cleanup would be as long.)
 */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>();

  async run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(name);
    // Only the caller of failed work gets its error.
    const turn = before ? before.then(work, work) : work();
    this.#last.set(name, turn);
    try {
      return await turn;
    } finally {
      if (this.#last.get(name) === turn) this.#last.delete(name);
    }
  }
}
