import { AppendCalls } from './append-calls.ts';
import type { Connection } from './connection.ts';
import type { Deadline } from './deadline.ts';
import { positionOfEvent } from './event-encoding.ts';
import type { OutgoingEvent } from './outgoing-event.ts';
import type { StreamReader } from './stream-reader.ts';
import type { WriteConflict, WriteSucceeded } from './write-outcome.ts';

/**
 * Writes events at an explicit revision, never at "any": only then does the server recognize repeated events, even
 * after a restart. So while the outcome is unknown, the same events are sent again at the same revision.
 */
export class StreamWriter {
  readonly #calls: AppendCalls;
  readonly #reader: StreamReader;

  constructor(connection: Connection, reader: StreamReader) {
    this.#calls = new AppendCalls(connection);
    this.#reader = reader;
  }

  async write(
    stream: string,
    expected: bigint,
    events: readonly OutgoingEvent[],
    deadline: Deadline,
  ): Promise<WriteSucceeded | WriteConflict> {
    let tries = 0;
    const outcome = await deadline.persist(() => {
      tries += 1;
      return this.#calls.append({ stream, expected, events }, deadline);
    });
    // Only an earlier try with an unknown outcome can have written them.
    const unsure = outcome.kind === 'wrongRevision' && tries > 1;
    return (unsure && (await this.#alreadyWritten(stream, expected, events, deadline))) || outcome;
  }

  /** Our own ids at that revision: an earlier call succeeded, and its response was lost. */
  async #alreadyWritten(
    stream: string,
    expected: bigint,
    events: readonly OutgoingEvent[],
    deadline: Deadline,
  ): Promise<WriteSucceeded | undefined> {
    const there = await this.#reader.forwards(stream, expected + 1n, events.length, deadline);
    const last = there.at(-1);
    const same = there.length === events.length && there.every(({ id }, at) => id === events[at]!.id.toLowerCase());
    return same && last ? { kind: 'written', revision: last.revision, position: positionOfEvent(last) } : undefined;
  }
}
