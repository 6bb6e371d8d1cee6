import type { Position } from '../kernel/event.ts';
import type { Lane } from '../kernel/read-model.ts';

export const CHECKPOINT_LEASE_SECONDS = 5;

/** How far one version of a read model or reaction has come, and which lease moves it. */
export interface Checkpoint {
  readonly name: string;
  readonly version: number;
  readonly generation: number;
  readonly lane: Lane;
  readonly kind: 'model' | 'reaction';
  readonly state: 'filling' | 'live' | 'halted' | 'retired';
  readonly position: Position;
  readonly epoch: bigint;
  /** Why it cannot go on, as its last holder recorded. */
  readonly failure?: string | null;
}

type Key = Pick<Checkpoint, 'name' | 'version' | 'generation'>;

export const isSameCheckpoint = (one: Key, other: Key): boolean =>
  one.name === other.name && one.version === other.version && one.generation === other.generation;

/** A checkpoint, the position at which its holder last saved it, and the new position. */
export interface CheckpointMove {
  readonly checkpoint: Checkpoint;
  readonly from: Position;
  readonly to: Position;
}

/** The rows that these statements take. */
export const movesAsJson = (moves: readonly CheckpointMove[]): string =>
  JSON.stringify(
    moves.map(({ checkpoint, from, to }) => ({
      name: checkpoint.name,
      version: checkpoint.version,
      generation: checkpoint.generation,
      epoch: String(checkpoint.epoch),
      state: checkpoint.state,
      came_from: String(from),
      position: String(to),
    })),
  );
