import type { Position, RecordedEvent } from '../kernel/event.ts';
import type { Checkpoint } from './checkpoints.ts';
import type { Projection } from './projection.ts';

/** The first parked position of a stream, and the error of its first event. Earlier events still flow. */
export interface DeadLetterStart {
  readonly from: Position;
  readonly reason: string;
}

/** A live read model that a lane moves: its lease, position, memory and parked streams. */
export interface LaneMember {
  /** As it was leased; its position does not change. */
  readonly checkpoint: Checkpoint;
  /** How far it has come. Ahead of `saved` while passed events do not concern it. */
  position: Position;
  /** The checkpoint's position in the database, as far as this holder knows. */
  saved: Position;
  readonly projection: Projection;
  readonly parked: Map<string, DeadLetterStart>;
}

/** The events of a page for one of the models. */
export interface MemberEvents {
  readonly member: LaneMember;
  readonly mine: readonly RecordedEvent[];
}
