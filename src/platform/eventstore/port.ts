import type { DatabaseConfig } from '../database/logins.ts';
import type { EventMetadata, Position } from '../kernel/event.ts';
import type { TenantId } from '../kernel/ids.ts';

/**
 * The event store as the application sees it: appends to one stream at a time, reads of one stream, and one ordered log
 * of all events. Two adapters (`postgres/`, `eventstoredb/`) pass the same contract
 * (`test/contracts/event-store.contract.ts`).
 */
export interface EventStore {
  /**
   * Appends all events or none, and claims and releases the claims with them. Never throws for a lost race: that is a
   * result. Throws `EventStoreUnavailable` if the outcome was not known within the deadline. Repeating an append with
   * the same event ids and revision returns the result of the first.
   */
  append(append: Append): Promise<AppendResult>;

  /** Returns events of one stream in order, from `from` (inclusive) on. An unknown stream is empty. */
  readStream(stream: string, options?: { from?: bigint; limit?: number }): Promise<StoredEvent[]>;
  /** Reads many streams from a revision (inclusive) to their end, in few round trips. Results are in input order. */
  readStreams(asked: readonly StreamPart[]): Promise<readonly (readonly StoredEvent[])[]>;
  /** Returns the newest `limit` events of a stream, oldest first: for streams of which only the newest part matters. */
  readStreamTail(stream: string, limit: number): Promise<StoredEvent[]>;

  /**
   * Returns the next events strictly after a position: 0, or one that the store returned. (Positions cannot be
   * computed.) `position` is how far the store looked, even if it found no matching event.
   */
  readAll(after: Position, limit: number, filter?: AllStreamFilter): Promise<AllStreamPage>;
  /** The position of the newest event, or 0 if there is none. */
  head(): Promise<Position>;
  /** The event of this application at exactly this position, if any. */
  eventAt(position: Position): Promise<StoredEvent | undefined>;
  /** The id of any event at exactly this position, if there is one. */
  idAt(position: Position): Promise<string | undefined>;
  /** Calls back when the log may have grown. Only a hint. Returns the function that unsubscribes. */
  onGrowth(wake: (hint?: AppendNotification) => void): () => void;

  /**
   * Calls back when the connection to the store was lost: it may lead to another log now. Returns the function that
   * unsubscribes.
   */
  onInterruption(heard: () => void): () => void;

  /** The stream that holds a claim now, if any. */
  claimHolder(claim: ClaimKey): Promise<string | undefined>;
  /** The same for many claims, in input order. Runs only a few reads at a time, however many claims it is given. */
  claimHolders(claims: readonly ClaimKey[]): Promise<readonly (string | undefined)[]>;
  /** The claims that a stream holds now. For code that no longer knows the values behind the digests. */
  claimsHeldBy(stream: string): Promise<ClaimKey[]>;

  /** Lets events of the stream be deleted once they are older than this. Only used for telemetry streams. */
  setRetention(stream: string, maxAgeDays: number): Promise<void>;
  /** Deletes at most `most` expired events and returns how many. 0 if the store's server does that itself. */
  trimExpired(most: number): Promise<number>;
  /**
   * Removes an erased person from their recorded telemetry: afterwards nothing links them to a host. Returns how many
   * events it changed. Idempotent. On PostgreSQL the events stay, without person and device. On EventStoreDB the
   * streams are truncated; the server's scavenge deletes the truncated events.
   */
  forgetTelemetryOf(tenantId: TenantId, personId: string): Promise<number>;
  /**
   * Finishes incomplete claims and releases after crashes, and returns how many. 0 if claims commit with their events.
   */
  sweepClaims(): Promise<number>;

  /**
   * Lets another thread of this process open the same log (`openLog`), so that reading a long history uses more cores.
   * Absent if one connection is enough to keep the store busy, or if the connection cannot be described by plain data.
   */
  readonly logAddress?: LogAddress;

  /** True if positions are 1, 2, 3, …: a reader of the log then asserts that it missed none. */
  readonly gapless: boolean;
  readonly name: 'postgres' | 'eventstoredb';
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Plain data, so that it can be copied to a thread. Another adapter that supports this adds its own kind. */
export interface LogAddress {
  readonly kind: 'postgres';
  readonly database: DatabaseConfig;
}

/** A part of the log: events of one tenant and of some types. Positions are those of the whole log. */
export interface AllStreamFilter {
  readonly tenantId: TenantId;
  readonly types: readonly string[];
}

/** A stream from a revision (inclusive) to its end. */
export interface StreamPart {
  readonly stream: string;
  readonly from: bigint;
}

export interface AllStreamPage {
  readonly events: readonly StoredEvent[];
  readonly position: Position;
  /**
   * The store stopped before the end of the log, although it found fewer than `limit` events: read on after `position`.
   */
  readonly more?: boolean;
}

export interface AppendNotification {
  /**
   * Events that this process itself has just appended, so that it need not read them back. Only from a store without
   * gaps whose response contains everything that a read would, including the time (PostgreSQL). EventStoreDB gives
   * none.
   */
  readonly events?: readonly StoredEvent[];
  /** The newest announced position. */
  readonly head?: Position;
}

export interface Append {
  readonly tenantId: TenantId;
  readonly stream: string;
  /** Revision of the last event the caller knows; -1 for a stream that must not exist yet. */
  readonly expectedRevision: bigint;
  readonly events: readonly NewEvent[];
  readonly claim: readonly ClaimKey[];
  readonly release: readonly ClaimKey[];
  /** A moment of `performance.now()` at which the caller gives up: from then on, nothing may be appended. */
  readonly until?: number | undefined;
}

/** The key of a claim. The executor computes the digest from the value, with a key that no database holds. */
export interface ClaimKey {
  readonly tenantId: TenantId;
  readonly kind: string;
  /** 32 bytes, hex. */
  readonly digest: string;
}

export interface NewEvent {
  readonly id: string;
  readonly type: string;
  readonly version: number;
  /** Canonical JSON text (RFC 8785), with personal fields sealed. */
  readonly data: string;
  readonly metadata: EventMetadata;
}

export interface StoredEvent {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly type: string;
  readonly version: number;
  readonly stream: string;
  readonly revision: bigint;
  readonly position: Position;
  /**
   * Epoch milliseconds, by the clock of the server that holds the log: PostgreSQL's, or that of the EventStoreDB leader
   * at that time. Every reader gets the same value, so live projections, rebuilds and the audit chain agree. Order by
   * `position`, never by this: the clocks of nodes differ.
   */
  readonly recordedAt: number;
  readonly data: unknown;
  /** The JSON text of `data` as it was written, if the store has it at hand. */
  readonly text?: string;
  readonly metadata: EventMetadata;
}

/**
 * `recordedAt` is the time of the last event, as every reader of the log gets it. EventStoreDB's response does not
 * contain it, so there it is absent: a clock of this process would differ, and reading the event back would slow down
 * every append. Callers that need it read the event (`ExecutionResult.recordedAt`). Nothing is folded from it.
 */
export type AppendResult =
  | { readonly kind: 'appended'; readonly revision: bigint; readonly position: Position; readonly recordedAt?: number }
  | { readonly kind: 'wrongRevision'; readonly actual: bigint }
  | { readonly kind: 'claimed'; readonly claim: ClaimKey; readonly holder: string };

/** Maximum size of an append (data and metadata, bytes): what every supported server accepts. */
export const MAX_APPEND_BYTES = 1024 * 1024 - 16 * 1024;

/** The store did not respond in time. Whether the append happened is unknown, so the same append may be retried. */
export class EventStoreUnavailable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'EventStoreUnavailable';
  }
}

/** An append that the store rejects on every try. Nothing of it was written. */
export class AppendRefused extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'AppendRefused';
  }
}
