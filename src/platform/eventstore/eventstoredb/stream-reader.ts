import { BACKWARDS, END, FORWARDS, START, type RecordedEvent, type StreamingRead } from '@eventstore/db-client';
import type { Position } from '../../kernel/event.ts';
import type { Client } from './client.ts';
import type { Connection } from './connection.ts';
import { Deadline, type OperationTimeouts } from './deadline.ts';
import { isMissingStream, mayDenyPosition, TimedOut } from './failures.ts';
import { logPosition } from './positions.ts';

export type RawEvent = RecordedEvent;

interface Resolved {
  /** Absent for a link to a missing event. Links are not followed here. */
  readonly event?: RawEvent;
}

/** Only the leader has all acknowledged writes; a follower may lag behind. */
const FROM_LEADER = { requiresLeader: true } as const;

/** Reads pages of raw events. Each page is retried until it arrives or the deadline passes. */
export class StreamReader {
  readonly #connection: Connection;
  readonly #timeoutMs: OperationTimeouts;

  constructor(connection: Connection, timeoutMs: OperationTimeouts) {
    this.#connection = connection;
    this.#timeoutMs = timeoutMs;
  }

  /** Reads from a revision (inclusive) on. Returns no events for a stream that does not exist. */
  forwards(stream: string, from: bigint, count: number, deadline?: Deadline): Promise<RawEvent[]> {
    return this.#read(deadline, (client) =>
      client.readStream(stream, { ...FROM_LEADER, direction: FORWARDS, fromRevision: from, maxCount: count }),
    );
  }

  /** Reads from a revision (inclusive) backwards, newest first. */
  backwards(stream: string, from: bigint | typeof END, count: number, deadline?: Deadline): Promise<RawEvent[]> {
    return this.#read(deadline, (client) =>
      client.readStream(stream, { ...FROM_LEADER, direction: BACKWARDS, fromRevision: from, maxCount: count }),
    );
  }

  /**
   * Returns the next record in commit order from a position (inclusive) on; 'nowhere' if the position is inside a
   * record.
   */
  at(position: Position, deadline?: Deadline): Promise<RawEvent | undefined | 'nowhere'> {
    const fromPosition = logPosition(position) ?? START;
    return this.#one(deadline, (client) =>
      client.readAll({ ...FROM_LEADER, direction: FORWARDS, fromPosition, maxCount: 1 }),
    );
  }

  /** Returns the last record before a position; 'nowhere' if nothing was written at exactly that position. */
  before(position: Position, deadline?: Deadline): Promise<RawEvent | undefined | 'nowhere'> {
    const fromPosition = logPosition(position) ?? START;
    return this.#one(deadline, (client) =>
      client.readAll({ ...FROM_LEADER, direction: BACKWARDS, fromPosition, maxCount: 1 }),
    );
  }

  /** A position only counts as invalid if the server rejects it twice and serves the end of the log in between. */
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

  /** The timeout is for the next event, not for all of them: a long page that keeps arriving is not silence. */
  async #collect(read: StreamingRead<Resolved>, timeoutMs: number, heard: () => void): Promise<RawEvent[]> {
    // Must be first: an error event without a listener would end the process.
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
      // Leaving the loop does not end the call. Do not await the cancel: it waits for a connection that may never come.
      read.cancel().catch(() => undefined);
    }
  }
}
