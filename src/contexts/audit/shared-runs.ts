/** Runs one task at a time for each key. Concurrent callers with the same key share one run and its result. */
export class SharedRuns<Key, Result> {
  readonly #running = new Map<Key, Promise<Result>>();

  run(key: Key, work: () => Promise<Result>): Promise<Result> {
    let result = this.#running.get(key);
    if (!result) {
      result = work().finally(() => this.#running.delete(key));
      this.#running.set(key, result);
    }
    return result;
  }
}
