const MAX_BATCH = 1_000;

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Batches calls with the same key that are made in one turn of the event loop: many callers cost one statement. A
 * DataLoader without a cache.
 */
export class Batcher<Key, Item, Result> {
  readonly #runBatch: (key: Key, items: readonly Item[]) => Promise<readonly Result[]>;
  readonly #waiting = new Map<Key, Waiting<Item, Result>[]>();
  readonly #maxBatch: number;

  /** Results of `runBatch` are in input order. An error rejects the whole batch. Larger batches are split. */
  constructor(runBatch: (key: Key, items: readonly Item[]) => Promise<readonly Result[]>, maxBatch = MAX_BATCH) {
    this.#runBatch = runBatch;
    this.#maxBatch = maxBatch;
  }

  load(key: Key, item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      const waiting = { item, resolve, reject };
      const others = this.#waiting.get(key);
      if (others) return void others.push(waiting);
      this.#waiting.set(key, [waiting]);
      setImmediate(() => this.#send(key));
    });
  }

  #send(key: Key): void {
    const waiting = this.#waiting.get(key)!;
    this.#waiting.delete(key);
    for (let from = 0; from < waiting.length; from += this.#maxBatch)
      void this.#run(key, waiting.slice(from, from + this.#maxBatch));
  }

  async #run(key: Key, batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#runBatch(
        key,
        batch.map(({ item }) => item),
      );
      batch.forEach(({ resolve }, at) => resolve(results[at]!));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
