import type { StoredEvent } from '../eventstore/port.ts';
import type { Position } from '../kernel/event.ts';

/** A position is missing from a store whose positions have no gaps. The subscription stops instead of guessing. */
export class PositionGapError extends Error {
  constructor(after: Position, found: Position) {
    super(`positions of the event log jump from ${after} to ${found}: events in between are missing`);
    this.name = 'PositionGapError';
  }
}

/** Throws for the first event that does not directly follow the one before. */
export function assertContiguous(after: Position, events: readonly StoredEvent[]): void {
  let last = after;
  for (const { position } of events) {
    if (position !== last + 1n) throw new PositionGapError(last, position);
    last = position;
  }
}
