const EVERY_MS = 60_000;
const AGAIN_MS = 5_000;

export interface SealRoundsOptions {
  /** After a failure, in milliseconds. Default: 5,000. */
  readonly againMs?: number;
}

/** Does one thing after the other: a round each minute, and after a failure, such as an outage of a database, sooner. */
export class SealRounds {
  readonly #round: () => Promise<void>;
  readonly #failed: (error: unknown, isRepeated: boolean) => void;
  readonly #againMs: number;
  #timer: NodeJS.Timeout | undefined;
  #again: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();

  /** `failed` is called for each failure. `isRepeated`: of an attempt after a failure, between two minutes. */
  constructor(
    round: () => Promise<void>,
    failed: (error: unknown, isRepeated: boolean) => void,
    { againMs = AGAIN_MS }: SealRoundsOptions = {},
  ) {
    this.#round = round;
    this.#failed = failed;
    this.#againMs = againMs;
  }

  get isStarted(): boolean {
    return this.#timer !== undefined;
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.next(this.#round), EVERY_MS).unref();
  }

  /** No round begins by itself any more. */
  stop(): void {
    clearInterval(this.#timer);
    clearTimeout(this.#again);
    this.#timer = undefined;
  }

  /** Resolves when this and everything before it was done. Never rejects. */
  next(work: () => Promise<void>, isRepeated = false): Promise<void> {
    this.#running = this.#running.then(work).catch((error: unknown) => {
      this.#failed(error, isRepeated);
      this.#tryAgain();
    });
    return this.#running;
  }

  #tryAgain(): void {
    if (!this.isStarted) return;
    clearTimeout(this.#again);
    this.#again = setTimeout(() => void this.next(this.#round, true), this.#againMs).unref();
  }
}
