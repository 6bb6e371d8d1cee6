import {
  BACKWARDS,
  END,
  FORWARDS,
  START,
  type RecordedEvent,
  type StreamingRead,
} from '@eventstore/db-client';
import type { Position } from '../../kernel/event.ts';
import type { Client } from './client.ts';
import type { Connection } from './connection.ts';
import { Deadline, type Patience } from './deadline.ts';
import { isMissingStream, TimedOut } from './failures.ts';
import { logPosition } from './positions.ts';

export type RawEvent = RecordedEvent;

interface Resolved {
  /** Absent in a link that points nowhere; links are not followed here. */
  readonly event?: RawEvent;
}

/** The leader alone knows what has been written; a follower may lag behind what was already answered. */
const FROM_LEADER = { requiresLeader: true } as const;

/** Pages of events as the server has them. Each page is asked for again until it comes or the time is up. */
export class StreamReader {
  readonly #connection: Connection;
  readonly #patience: Patience;

  constructor(connection: Connection, patience: Patience) {
    this.#connection = connection;
    this.#patience = patience;
  }

  /** From a revision (inclusive) on; nothing for a stream that does not exist. */
  forwards(stream: string, from: bigint, count: number, deadline?: Deadline): Promise<RawEvent[]> {
    return this.#read(deadline, (client) =>
      client.readStream(stream, { ...FROM_LEADER, direction: FORWARDS, fromRevision: from, maxCount: count }),
    );
  }

  /** From a revision (inclusive) back, newest first. */
  backwards(stream: string, from: bigint | typeof END, count: number, deadline?: Deadline): Promise<RawEvent[]> {
    return this.#read(deadline, (client) =>
      client.readStream(stream, { ...FROM_LEADER, direction: BACKWARDS, fromRevision: from, maxCount: count }),
    );
  }

  /** Everything from a position (inclusive) on, in commit order. */
  all(from: Position, count: number): Promise<RawEvent[]> {
    const fromPosition = logPosition(from) ?? START;
    return this.#read(undefined, (client) =>
      client.readAll({ ...FROM_LEADER, direction: FORWARDS, fromPosition, maxCount: count }),
    );
  }

  async newest(): Promise<RawEvent | undefined> {
    const [newest] = await this.#read(undefined, (client) =>
      client.readAll({ ...FROM_LEADER, direction: BACKWARDS, fromPosition: END, maxCount: 1 }),
    );
    return newest;
  }

  #read(
    deadline: Deadline = new Deadline(this.#patience),
    start: (client: Client) => StreamingRead<Resolved>,
  ): Promise<RawEvent[]> {
    return deadline.persist(async () => {
      const patienceMs = deadline.callMs();
      try {
        return await this.#connection.call((client, heard) => this.#collect(start(client), patienceMs, heard));
      } catch (error) {
        if (isMissingStream(error)) return [];
        throw error;
      }
    });
  }

  /** The patience is for the next event, not for all of them: a long page that keeps coming is no silence. */
  async #collect(read: StreamingRead<Resolved>, patienceMs: number, heard: () => void): Promise<RawEvent[]> {
    // Before anything else: an error that nobody listens to would end the process.
    read.on('error', () => undefined);
    const giveUp = () => read.destroy(new TimedOut(patienceMs));
    const timer = setTimeout(giveUp, patienceMs);
    const forget = this.#connection.onDiscard(giveUp);
    const events: RawEvent[] = [];
    try {
      for await (const { event } of read) {
        timer.refresh();
        heard();
        if (event) events.push(event);
      }
      return events;
    } finally {
      forget();
      clearTimeout(timer);
      // Leaving the loop does not end the call. Cancelling waits for a connection that may never come.
      read.cancel().catch(() => undefined);
    }
  }
}
