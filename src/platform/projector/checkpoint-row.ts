import type { Lane } from '../kernel/read-model.ts';
import type { Checkpoint } from './checkpoint-move.ts';

/** A row of the table `cursors`, read with these columns. */
export interface CheckpointRow {
  name: string;
  version: number;
  generation: number;
  lane: Lane;
  kind: 'model' | 'reaction';
  state: Checkpoint['state'];
  position: string;
  epoch: string;
  failure: string | null;
}

export const CHECKPOINT_COLUMNS = 'name, version, generation, lane, kind, state, position::text, epoch::text, failure';

export const checkpointOf = (row: CheckpointRow): Checkpoint => ({
  ...row,
  position: BigInt(row.position),
  epoch: BigInt(row.epoch),
});
