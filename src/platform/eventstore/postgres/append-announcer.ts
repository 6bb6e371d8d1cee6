import type pg from 'pg';
import type { Position } from '../../kernel/event.ts';

/** Followers in other processes are notified at once after a quiet time, and this often while the log keeps growing. */
const APART_MS = 5;
const ANNOUNCE = { name: 'announce-growth', text: `select pg_notify('castellan_feed', $1)` };

/**
 * Notifies other processes of the newest position. Separate from the appends: a notification in each of them would
 * delay every caller for a mere hint. A pool whose commits do not wait for the disk is good enough.
 */
export class AppendAnnouncer {
  readonly #pool: pg.Pool;
  #head = 0n;
  #announced = 0n;
  #timer: NodeJS.Timeout | undefined;
  #announcing: Promise<unknown> | undefined;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  grown(head: Position): void {
    if (head > this.#head) this.#head = head;
    if (!this.#timer && !this.#announcing) this.#announce();
  }

  /** One notification at a time: two on two connections might arrive in either order. */
  #announce(): void {
    this.#timer = undefined;
    if (this.#announced === this.#head) return;
    this.#announced = this.#head;
    // Followers that miss a notification poll.
    this.#announcing = this.#pool
      .query({ ...ANNOUNCE, values: [this.#head.toString()] })
      .catch(() => undefined)
      .then(() => {
        this.#announcing = undefined;
        this.#timer = setTimeout(() => this.#announce(), APART_MS);
      });
  }

  /** Resolves when the newest position was sent. */
  async close(): Promise<void> {
    await this.#announcing;
    clearTimeout(this.#timer);
    this.#announce();
    await this.#announcing;
    clearTimeout(this.#timer);
  }
}
