/**
 * Watches one connection for a silent peer: a frozen server, or a network that drops packets. Neither ends the
 * connection, and the server's own time limits then do not reach the client. The time counts from the latest
 * response, or from the first open request.
 */
export class SilenceWatchdog {
  readonly #usual: number;
  readonly #end: (afterMs: number) => void;
  #allowed: number;
  #isWaiting = false;
  #timer: NodeJS.Timeout | undefined;

  /** 0: no limit. */
  constructor(milliseconds: number, end: (afterMs: number) => void) {
    this.#usual = milliseconds;
    this.#allowed = milliseconds;
    this.#end = end;
  }

  asked(): void {
    if (this.#isWaiting || this.#allowed === 0) return;
    this.#isWaiting = true;
    // One timer per connection, refreshed each time: cheaper than one per statement.
    if (this.#timer) this.#timer.refresh();
    else this.#timer = setTimeout(() => this.#isWaiting && this.#end(this.#allowed), this.#allowed).unref();
  }

  /** A response arrived; others may be outstanding. */
  heard(): void {
    if (this.#isWaiting) this.#timer?.refresh();
  }

  /** No response is outstanding. */
  answered(): void {
    this.#isWaiting = false;
  }

  /** Sets the limit for later requests; undefined: the usual one. */
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
