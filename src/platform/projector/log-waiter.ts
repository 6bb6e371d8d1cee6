import type { Position } from '../kernel/event.ts';

export interface WaitOptions {
  readonly signal?: AbortSignal;
  readonly concerns?: (type: string) => boolean;
  readonly pause?: number | undefined;
}

/** A subscriber that waits for the log to grow. */
export interface Waiter {
  readonly after: Position;
  readonly concerns: WaitOptions['concerns'];
  wake(): void;
  /** The log has grown by events that do not concern the subscriber. */
  passed(): void;
}
