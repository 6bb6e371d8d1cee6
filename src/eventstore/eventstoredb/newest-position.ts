import type { Position } from '../../kernel/event.ts';

/** The newest position of which this process knows that it was committed; undefined while it knows of none. */
export class NewestPosition {
  #position: Position | undefined;

  get position(): Position | undefined {
    return this.#position;
  }

  learn(position: Position): void {
    if (this.#position === undefined || position > this.#position) this.#position = position;
  }

  /** Behind a lost connection there may be another log. */
  forget(): void {
    this.#position = undefined;
  }
}
