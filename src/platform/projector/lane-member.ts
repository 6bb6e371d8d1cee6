import type { Position, RecordedEvent } from '../kernel/event.ts';
import type { Checkpoint } from './checkpoints.ts';
import type { Projection } from './projection.ts';

/** From where on a stream is parked, and what its first event failed with. What came before still flows. */
export interface DeadLetterStart {
  readonly from: Position;
  readonly reason: string;
}

/** A live read model that a lane moves: its lease, how far it has come, its memory, and the streams that it does without. */
export interface LaneMember {
  /** As it was leased; its position stands still. */
  readonly checkpoint: Checkpoint;
  /** How far it has come; ahead of `saved` while nothing that passed concerned it. */
  position: Position;
  /** Where its checkpoint stands in the database, as far as this holder knows. */
  saved: Position;
  readonly projection: Projection;
  readonly parked: Map<string, DeadLetterStart>;
}

/** What a page holds for one of the models. */
export interface MemberEvents {
  readonly member: LaneMember;
  readonly mine: readonly RecordedEvent[];
}
