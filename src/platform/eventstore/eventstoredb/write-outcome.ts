import type { Position } from '../../kernel/event.ts';

/** Revision and position of the last written event. */
export interface WriteSucceeded {
  readonly kind: 'written';
  readonly revision: bigint;
  readonly position: Position;
}

/** Nothing was written: the stream is at another revision, -1 if it does not exist. */
export interface WriteConflict {
  readonly kind: 'wrongRevision';
  readonly actual: bigint;
}
