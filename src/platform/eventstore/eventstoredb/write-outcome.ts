import type { Position } from '../../kernel/event.ts';

/** Revision and position of the last event that was written. */
export interface WriteSucceeded {
  readonly kind: 'written';
  readonly revision: bigint;
  readonly position: Position;
}

/** Nothing was written: the stream was found at another revision, -1 for none. */
export interface WriteConflict {
  readonly kind: 'wrongRevision';
  readonly actual: bigint;
}
