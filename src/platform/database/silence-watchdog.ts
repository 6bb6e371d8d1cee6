/**
 * Watches one connection for a peer that never answers: a frozen server, or a network that swallows packets. Neither ends the
 * connection, and the server's own time limits do not reach the client then. Counts from the latest answer, or from the question
 * where none was open.
 */
export class SilenceWatchdog {
  readonly #usual: number;
  readonly #end: (afterMs: number) => void;
  #allowed: number;
  #isWaiting = false;
  #timer: NodeJS.Timeout | undefined;

  /** 0: however long it takes. */
  constructor(milliseconds: number, end: (afterMs: number) => void) {
    this.#usual = milliseconds;
    this.#allowed = milliseconds;
    this.#end = end;
  }

  asked(): void {
    if (this.#isWaiting || this.#allowed === 0) return;
    this.#isWaiting = true;
    // One timer a connection, wound up again and again: cheaper than one a statement.
    if (this.#timer) this.#timer.refresh();
    else this.#timer = setTimeout(() => this.#isWaiting && this.#end(this.#allowed), this.#allowed).unref();
  }

  /** One answer came; others may be awaited. */
  heard(): void {
    if (this.#isWaiting) this.#timer?.refresh();
  }

  /** Nothing is awaited any more. */
  answered(): void {
    this.#isWaiting = false;
  }

  /** Another patience from the next question on; undefined: the usual one. */
  allow(milliseconds: number | undefined): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isWaiting = false;
    this.#allowed = milliseconds ?? this.#usual;
  }

  over(): void {
    this.allow(0);
  }
}
