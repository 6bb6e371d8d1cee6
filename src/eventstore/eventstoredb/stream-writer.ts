import { NO_STREAM, type AppendResult, type JSONEventData } from '@eventstore/db-client';
import type { Position } from '../../kernel/event.ts';
import type { Connection } from './connection.ts';
import { within, type Deadline } from './deadline.ts';
import { positionOfEvent } from './event-encoding.ts';
import { wrongRevision } from './failures.ts';
import { positionOf } from './positions.ts';
import { Slots } from './slots.ts';
import type { StreamReader } from './stream-reader.ts';

/** Revision and position of the last event that was written. */
export interface Written {
  readonly kind: 'written';
  readonly revision: bigint;
  readonly position: Position;
}

export interface Missed {
  readonly kind: 'wrongRevision';
  readonly actual: bigint;
}

/** A server takes 100 calls on a connection by default; more than that pile up in front of it and are refused in floods. */
const MOST_CALLS = 64;

/**
 * Writes events at an explicit revision, never at "any": only then does the server recognise, after a restart too, that
 * the same events come once more. So while the outcome is unknown, the same events are sent again to the same place.
 */
export class StreamWriter {
  readonly #connection: Connection;
  readonly #reader: StreamReader;
  readonly #slots = new Slots(MOST_CALLS);

  constructor(connection: Connection, reader: StreamReader) {
    this.#connection = connection;
    this.#reader = reader;
  }

  async write(stream: string, expected: bigint, events: JSONEventData[], deadline: Deadline): Promise<Written | Missed> {
    let tries = 0;
    const outcome = await deadline.persist(() =>
      this.#slots.run(deadline.remainingMs, () => {
        tries += 1;
        return this.#send(stream, expected, events, deadline.callMs());
      }),
    );
    // Only a try whose outcome we did not learn can have put them there.
    const unsure = outcome.kind === 'wrongRevision' && tries > 1;
    return (unsure && (await this.#alreadyWritten(stream, expected, events, deadline))) || outcome;
  }

  #send(stream: string, expected: bigint, events: JSONEventData[], callMs: number): Promise<Written | Missed> {
    const expectedRevision = expected < 0n ? NO_STREAM : expected;
    const options = { expectedRevision, requiresLeader: true, deadline: callMs } as const;
    return this.#connection.call(async (client) => {
      try {
        return outcomeOf(await within(callMs, client.appendToStream(stream, events, options)));
      } catch (error) {
        const actual = wrongRevision(error);
        if (actual === undefined) throw error;
        return { kind: 'wrongRevision', actual };
      }
    });
  }

  /** Our own ids at that place: an earlier call went through, and its answer was lost. */
  async #alreadyWritten(
    stream: string,
    expected: bigint,
    events: readonly JSONEventData[],
    deadline: Deadline,
  ): Promise<Written | undefined> {
    const there = await this.#reader.forwards(stream, expected + 1n, events.length, deadline);
    const last = there.at(-1);
    const same = there.length === events.length && there.every(({ id }, at) => id === events[at]!.id.toLowerCase());
    return same && last ? { kind: 'written', revision: last.revision, position: positionOfEvent(last) } : undefined;
  }
}

function outcomeOf({ success, nextExpectedRevision, position }: AppendResult): Written | Missed {
  // A wrong revision is an answer, not an error, when the URL says throwOnAppendFailure=false.
  if (!success) return { kind: 'wrongRevision', actual: nextExpectedRevision };
  if (!position) throw new Error('the server did not tell the position of an append');
  return { kind: 'written', revision: nextExpectedRevision, position: positionOf(position.commit) };
}
