/** Larger batches are split into several statements. */
const MOST = 1_000;

interface Waiting<Asked, Answer> {
  readonly asked: Asked;
  readonly answer: (answer: Answer) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Batches calls with the same key that are made in one turn of the event loop: many callers cost one statement. A
 * DataLoader without a cache.
 */
export class Batcher<Key, Asked, Answer> {
  readonly #together: (key: Key, asked: readonly Asked[]) => Promise<readonly Answer[]>;
  readonly #gathered = new Map<Key, Waiting<Asked, Answer>[]>();

  /** Results of `together` are in input order. An error rejects the whole batch. */
  constructor(together: (key: Key, asked: readonly Asked[]) => Promise<readonly Answer[]>) {
    this.#together = together;
  }

  load(key: Key, asked: Asked): Promise<Answer> {
    return new Promise((answer, fail) => {
      const waiting = { asked, answer, fail };
      const others = this.#gathered.get(key);
      if (others) return void others.push(waiting);
      this.#gathered.set(key, [waiting]);
      setImmediate(() => this.#leave(key));
    });
  }

  #leave(key: Key): void {
    const gathered = this.#gathered.get(key)!;
    this.#gathered.delete(key);
    for (let from = 0; from < gathered.length; from += MOST) void this.#answer(key, gathered.slice(from, from + MOST));
  }

  async #answer(key: Key, waiting: readonly Waiting<Asked, Answer>[]): Promise<void> {
    try {
      const answers = await this.#together(
        key,
        waiting.map(({ asked }) => asked),
      );
      waiting.forEach(({ answer }, at) => answer(answers[at]!));
    } catch (error) {
      for (const { fail } of waiting) fail(error);
    }
  }
}
