import type { Position } from '../kernel/event.ts';
import type { StoredEvent } from '../eventstore/port.ts';

/**
 * An event that is never dropped from the log. A log that was set back, or another log, has a different event at this
 * position.
 */
export interface LogMark {
  readonly position: Position;
  readonly id: string;
}

/** The newest events that this process knows. */
interface KnownEvents {
  at(position: Position): StoredEvent | undefined;
}

/**
 * Notices that the end of the log was cut off under this process: an append then gets a position at which the process has
 * read another event. Only for stores whose positions have no gaps.
 */
export class LogCut {
  #lost: LogMark | undefined;
  #tell: () => void = () => undefined;

  /** An event that was lost with the end of the log. Stays for the life of the process, whose memory is wrong from there on. */
  get lost(): LogMark | undefined {
    return this.#lost;
  }

  /** `tell` is called as soon as an append shows that the log may have been cut. */
  whenSuspected(tell: () => void): void {
    this.#tell = tell;
  }

  /** Usually these are events behind `head`, or ones that a read has brought before their announcement. */
  compare(appended: readonly StoredEvent[], head: Position, known: KnownEvents): void {
    const other = appended.find(({ position, id }) => position <= head && known.at(position)?.id !== id);
    if (!other) return;
    const before = known.at(other.position);
    // No proof without the event that was there before: the check of the log decides.
    if (before) this.#lost ??= { position: before.position, id: before.id };
    this.#tell();
  }
}
