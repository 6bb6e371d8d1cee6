import type { Position } from '../kernel/event.ts';
import { whenAborted } from '../kernel/when-aborted.ts';
import type { StoredEvent } from '../eventstore/port.ts';
import type { LogWindow } from './log-window.ts';

export interface WaitOptions {
  readonly signal?: AbortSignal;
  readonly concerns?: (type: string) => boolean;
  readonly pause?: number | undefined;
}

/** A subscriber that waits for the log to grow. */
interface Waiter {
  readonly after: Position;
  readonly concerns: WaitOptions['concerns'];
  wake(): void;
  /** The log has grown by events that do not concern the subscriber. */
  passed(): void;
}

/** Wakes idle subscribers at least every N events, so that they stay within the cached window. */
const MAX_PASSED = 500;
/** An idle subscriber wakes this soon, to save its checkpoint in case the log has become quiet. */
const PASSED_MS = 150;

/** The subscribers that wait for the log to grow. */
export class LogWaiters {
  readonly #waiters = new Set<Waiter>();

  get areNone(): boolean {
    return this.#waiters.size === 0;
  }

  /**
   * Resolves when a subscriber is woken, or after `timeoutMs` milliseconds, when `late` is called; with `pause` after
   * that time instead, without this call. If the log has grown already, by nothing that concerns the subscriber, it is
   * one that is passed.
   */
  wait(
    after: Position,
    timeoutMs: number,
    { signal, concerns, pause }: WaitOptions,
    { hasGrown, late }: { readonly hasGrown: boolean; readonly late: () => void },
  ): Promise<void> {
    return new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        forget?.();
        this.#waiters.delete(waiter);
        resolve();
      };
      let hasPassed = false;
      const passed = () => {
        if (hasPassed) return;
        hasPassed = true;
        clearTimeout(timer);
        timer = setTimeout(done, Math.min(timeoutMs, pause ?? PASSED_MS));
      };
      const waiter: Waiter = { after, concerns, wake: done, passed };
      const isLate = () => {
        late();
        done();
      };
      let timer = pause === undefined ? setTimeout(isLate, timeoutMs) : setTimeout(done, pause);
      this.#waiters.add(waiter);
      const forget = signal && whenAborted(signal, done);
      if (hasGrown) passed();
    });
  }

  wakeAll(): void {
    for (const { wake } of this.#waiters) wake();
  }

  /** Wakes those whom the events that extended this window concern, and those who are far behind. */
  grown(events: readonly StoredEvent[], window: LogWindow): void {
    for (const { after, concerns, wake, passed } of this.#waiters) {
      if (!concerns || events.some(({ type }) => concerns(type)) || window.countAfter(after) > MAX_PASSED) wake();
      else passed();
    }
  }
}

/** True if what follows a position concerns a subscriber, or is so much that it has to move on. */
export function isConcerned(after: Position, window: LogWindow, concerns: WaitOptions['concerns']): boolean {
  if (after >= window.head) return false;
  return !concerns || window.countAfter(after) > MAX_PASSED || window.holdsAfter(after, concerns);
}
