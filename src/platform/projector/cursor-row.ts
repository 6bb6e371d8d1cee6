import type { Lane } from '../kernel/read-model.ts';
import type { Checkpoint } from './checkpoint-move.ts';

/** A row of the table `cursors`, read with these columns. */
export interface CursorRow {
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

export const COLUMNS = 'name, version, generation, lane, kind, state, position::text, epoch::text, failure';

export const cursorOf = (row: CursorRow): Checkpoint => ({
  ...row,
  position: BigInt(row.position),
  epoch: BigInt(row.epoch),
});
