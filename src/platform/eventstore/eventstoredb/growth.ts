import { setImmediate as nextTick, setTimeout as sleep } from 'node:timers/promises';
import type { Position } from '../../kernel/event.ts';
import type { AppendNotification } from '../port.ts';
import type { Connection } from './connection.ts';
import { backOff } from './deadline.ts';
import type { AllStreamReader } from './all-stream-reader.ts';
import { subscribeToAll } from './subscription.ts';

type Wake = (hint?: AppendNotification) => void;

export interface GrowthOptions {
  /** How long a subscription may be silent before the log is checked for missed events, in milliseconds. */
  readonly watchdogMs: number;
  readonly warn: (message: string, error?: unknown) => void;
}

const LONGEST_PAUSE_MS = 10_000;

/**
 * Announces growth of the log: at once for this process's appends, and by a subscription for those of others. These are
 * only hints. The subscription therefore starts at the end of the log and is replaced when it fails; readers find
 * missed events in the log.
 */
export class Growth {
  readonly #connection: Connection;
  readonly #feed: AllStreamReader;
  readonly #options: GrowthOptions;
  readonly #wakes = new Set<Wake>();
  readonly #drops = new Set<() => void>();
  #following: AbortController | undefined;
  #newest: Position | undefined;

  constructor(connection: Connection, feed: AllStreamReader, options: GrowthOptions) {
    this.#connection = connection;
    this.#feed = feed;
    this.#options = options;
  }

  subscribe(wake: Wake): () => void {
    this.#wakes.add(wake);
    if (!this.#following) {
      this.#following = new AbortController();
      void this.#follow(this.#following.signal);
    }
    return () => {
      this.#wakes.delete(wake);
      if (this.#wakes.size === 0) this.stop();
    };
  }

  /** Calls back when the subscription, a call that never ends normally, was dropped. */
  onDrop(heard: () => void): () => void {
    this.#drops.add(heard);
    return () => this.#drops.delete(heard);
  }

  /** Announcements of the same tick are combined. */
  announce(position: Position): void {
    this.#feed.heardOf(position);
    const scheduled = this.#newest !== undefined;
    if (!scheduled || position > this.#newest!) this.#newest = position;
    if (!scheduled) void nextTick().then(() => this.#wakeWithNewest());
  }

  stop(): void {
    this.#following?.abort();
    this.#following = undefined;
  }

  #wakeWithNewest(): void {
    const head = this.#newest!;
    this.#newest = undefined;
    for (const wake of this.#wakes) wake({ head });
  }

  async #follow(stopped: AbortSignal): Promise<void> {
    for (let tries = 1; !stopped.aborted; tries += 1) {
      try {
        const from = await this.#feed.head();
        // Events that arrived without a subscription are before this position, all others after it.
        for (const wake of this.#wakes) wake();
        await subscribeToAll(this.#connection, this.#feed, from, {
          watchdogMs: this.#options.watchdogMs,
          stopped,
          confirmed: () => (tries = 0),
          grown: (position) => this.announce(position),
        });
      } catch (error) {
        if (!stopped.aborted) for (const heard of this.#drops) heard();
        if (!stopped.aborted) this.#options.warn('the subscription to the event store was dropped', error);
      }
      if (!stopped.aborted)
        await sleep(backOff(tries, LONGEST_PAUSE_MS), undefined, { signal: stopped }).catch(() => undefined);
    }
  }
}
