import { START, type Position, type RecordedEvent } from '../kernel/event.ts';
import { CHECKPOINT_LEASE_SECONDS } from './checkpoint-move.ts';

const LEASE_MS = CHECKPOINT_LEASE_SECONDS * 1_000;

/**
 * Which effects may have run before the holder of a lease runs them. Only these have to be looked for in the streams of
 * their commands, so a first run costs nothing.
 */
export class RepeatedEffects {
  readonly #inherited: Position;
  #heldAt = Number.NEGATIVE_INFINITY;

  /** `inherited`: the end of the log, read when the lease was held. Up to here, earlier holders may have run effects. */
  constructor(inherited: Position) {
    this.#inherited = inherited;
  }

  /** A renewal that was sent at this moment (`performance.now`) has succeeded. */
  held(at: number): void {
    this.#heldAt = at;
  }

  /** By the clock of this process, the lease may have ended: a process that was frozen does not know yet. */
  get isOverdue(): boolean {
    return performance.now() - this.#heldAt >= LEASE_MS;
  }

  /**
   * Returns a function that says of each event whether its effects may have run before: under an earlier lease, under this
   * one if the event is not after `begun`, or under a later one.
   */
  upTo(begun: Position = START): (event: Pick<RecordedEvent, 'position'>) => boolean {
    return ({ position }) => position <= this.#inherited || position <= begun || this.isOverdue;
  }
}
