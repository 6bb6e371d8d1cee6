import type { Position as LogPosition } from '@eventstore/db-client';
import { START, type Position } from '../../kernel/event.ts';

// The log counts bytes from 0, and an event may stand there; our positions count from 1, so that 0 is before everything.

/** The position of what was committed at an offset of the log. */
export const positionOf = (commit: bigint): Position => commit + 1n;

/** The place in the log that a position stands for; undefined for the beginning. */
export function logPosition(position: Position): LogPosition | undefined {
  if (position <= START) return undefined;
  // Everything that is written by gRPC commits itself, so both offsets are the same.
  const offset = position - 1n;
  return { commit: offset, prepare: offset };
}
