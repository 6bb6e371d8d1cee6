import type { Position as LogPosition } from '@eventstore/db-client';
import { START, type Position } from '../../kernel/event.ts';

// The log counts bytes from 0, and an event may be at 0. Our positions are one higher, so that 0 is before every event.

/** The position of a commit at an offset of the log. */
export const positionOf = (commit: bigint): Position => commit + 1n;

/** The log offset of a position; undefined for the beginning. */
export function logPosition(position: Position): LogPosition | undefined {
  if (position <= START) return undefined;
  // Everything written through gRPC commits itself, so both offsets are equal.
  const offset = position - 1n;
  return { commit: offset, prepare: offset };
}
