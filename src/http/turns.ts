/**
 * One after another for each name, side by side for different names. For work on one stream by one process: those who
 * would race each other to the same revision wait for their turn instead, and decide once.
 */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  async take<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(name);
    // Whoever went before answers for their own failure.
    const mine = before ? before.then(work, work) : work();
    this.#last.set(name, mine);
    try {
      return await mine;
    } finally {
      if (this.#last.get(name) === mine) this.#last.delete(name);
    }
  }
}
