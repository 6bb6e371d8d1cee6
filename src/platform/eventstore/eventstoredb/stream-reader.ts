import { BACKWARDS, END, FORWARDS, START, type RecordedEvent, type StreamingRead } from '@eventstore/db-client';
import type { Position } from '../../kernel/event.ts';
import type { Client } from './client.ts';
import type { Connection } from './connection.ts';
import { Deadline, type OperationTimeouts } from './deadline.ts';
import { isMissingStream, mayDenyPosition, TimedOut } from './failures.ts';
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
  readonly #timeoutMs: OperationTimeouts;

  constructor(connection: Connection, timeoutMs: OperationTimeouts) {
    this.#connection = connection;
    this.#timeoutMs = timeoutMs;
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

  /** Whatever is the next in commit order from a position (inclusive) on; 'nowhere' where a record lies across that place. */
  at(position: Position, deadline?: Deadline): Promise<RawEvent | undefined | 'nowhere'> {
    const fromPosition = logPosition(position) ?? START;
    return this.#one(deadline, (client) =>
      client.readAll({ ...FROM_LEADER, direction: FORWARDS, fromPosition, maxCount: 1 }),
    );
  }

  /** Whatever is the last before a position; 'nowhere' where nothing was written at just that place. */
  before(position: Position, deadline?: Deadline): Promise<RawEvent | undefined | 'nowhere'> {
    const fromPosition = logPosition(position) ?? START;
    return this.#one(deadline, (client) =>
      client.readAll({ ...FROM_LEADER, direction: BACKWARDS, fromPosition, maxCount: 1 }),
    );
  }

  /** A place is only taken for none when the server denies it twice and serves the end of the log in between. */
  async #one(
    deadline = new Deadline(this.#timeoutMs),
    start: (client: Client) => StreamingRead<Resolved>,
  ): Promise<RawEvent | undefined | 'nowhere'> {
    for (let denials = 0; denials < 2; denials += 1) {
      const found = await this.#read(deadline, start, mayDenyPosition);
      if (found !== 'refused') return found[0];
      if (denials === 0) await this.newest(deadline);
    }
    return 'nowhere';
  }

  async newest(deadline?: Deadline): Promise<RawEvent | undefined> {
    const [newest] = await this.#read(deadline, (client) =>
      client.readAll({ ...FROM_LEADER, direction: BACKWARDS, fromPosition: END, maxCount: 1 }),
    );
    return newest;
  }

  #read(deadline: Deadline | undefined, start: (client: Client) => StreamingRead<Resolved>): Promise<RawEvent[]>;
  #read(
    deadline: Deadline | undefined,
    start: (client: Client) => StreamingRead<Resolved>,
    isRefusal: (error: unknown) => boolean,
  ): Promise<RawEvent[] | 'refused'>;
  #read(
    deadline: Deadline = new Deadline(this.#timeoutMs),
    start: (client: Client) => StreamingRead<Resolved>,
    isRefusal?: (error: unknown) => boolean,
  ): Promise<RawEvent[] | 'refused'> {
    return deadline.persist(async () => {
      const timeoutMs = deadline.callMs();
      try {
        return await this.#connection.call((client, heard) => this.#collect(start(client), timeoutMs, heard));
      } catch (error) {
        if (isMissingStream(error)) return [];
        if (isRefusal?.(error)) return 'refused';
        throw error;
      }
    });
  }

  /** The patience is for the next event, not for all of them: a long page that keeps coming is no silence. */
  async #collect(read: StreamingRead<Resolved>, timeoutMs: number, heard: () => void): Promise<RawEvent[]> {
    // Before anything else: an error that nobody listens to would end the process.
    read.on('error', () => undefined);
    const giveUp = () => read.destroy(new TimedOut(timeoutMs));
    const timer = setTimeout(giveUp, timeoutMs);
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
