import type pg from 'pg';
import type { Position } from '../../kernel/event.ts';

/** Followers elsewhere hear of growth at once when it was quiet, and this often while the log grows and grows. */
const APART_MS = 5;
const ANNOUNCE = { name: 'announce-growth', text: `select pg_notify('castellan_feed', $1)` };

/**
 * Tells other processes how far the log has come. Apart from the appends: a notification within each of them would keep
 * every caller waiting for what is only a hint. A pool whose commits do not wait for the disk is enough for it.
 */
export class AppendAnnouncer {
  readonly #pool: pg.Pool;
  #head = 0n;
  #told = 0n;
  #timer: NodeJS.Timeout | undefined;
  #telling: Promise<unknown> | undefined;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  grown(head: Position): void {
    if (head > this.#head) this.#head = head;
    if (!this.#timer && !this.#telling) this.#tell();
  }

  /** One at a time: two on two connections might arrive in either order. */
  #tell(): void {
    this.#timer = undefined;
    if (this.#told === this.#head) return;
    this.#told = this.#head;
    // Whoever does not hear of it polls.
    this.#telling = this.#pool
      .query({ ...ANNOUNCE, values: [this.#head.toString()] })
      .catch(() => undefined)
      .then(() => {
        this.#telling = undefined;
        this.#timer = setTimeout(() => this.#tell(), APART_MS);
      });
  }

  /** Resolves when everything was told. */
  async close(): Promise<void> {
    await this.#telling;
    clearTimeout(this.#timer);
    this.#tell();
    await this.#telling;
    clearTimeout(this.#timer);
  }
}
