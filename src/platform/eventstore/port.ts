import type { DatabaseConfig } from '../database/logins.ts';
import type { EventMetadata, Position } from '../kernel/event.ts';
import type { TenantId } from '../kernel/ids.ts';

/**
 * The event store as the rest of the house sees it: appends to one stream at a time, reads of one stream, and one ordered
 * feed of everything. Two adapters (`postgres/`, `eventstoredb/`) pass the same contract (`test/contracts/event-store.contract.ts`).
 */
export interface EventStore {
  /**
   * Appends all events or none, and takes and releases the claims with them. Never throws for a lost race: that is a
   * verdict. Throws `EventStoreUnavailable` when the outcome could not be learned within the deadline.
   * A second append of the same event ids at the same place is answered like the first.
   */
  append(append: Append): Promise<AppendResult>;

  /** Events of one stream in order, from `from` (inclusive) on. An unknown stream is an empty one. */
  readStream(stream: string, options?: { from?: bigint; limit?: number }): Promise<StoredEvent[]>;
  /** The newest `limit` events of a stream, oldest first: for streams that only matter in their latest part. */
  readStreamTail(stream: string, limit: number): Promise<StoredEvent[]>;

  /**
   * The next events strictly after a position: 0, or one that the store gave out, since positions are not computed. `position` is how far the
   * store looked, also where nothing was of use.
   */
  readAll(after: Position, limit: number, filter?: AllStreamFilter): Promise<AllStreamPage>;
  /** The position of the newest event, 0 when there is none. */
  head(): Promise<Position>;
  /** The event of ours at exactly this position, if one is there. */
  eventAt(position: Position): Promise<StoredEvent | undefined>;
  /** The id of whatever stands at exactly this position, if something does. */
  idAt(position: Position): Promise<string | undefined>;
  /** Calls back when the feed may have grown: a hint, never the truth. Answers the function that ends it. */
  onGrowth(wake: (hint?: AppendNotification) => void): () => void;

  /** Calls back when the connection to the store was lost: what is behind it now may be another log. Returns the function that ends it. */
  onInterruption(heard: () => void): () => void;

  /** The stream that holds a claim now, if any. */
  claimHolder(claim: ClaimKey): Promise<string | undefined>;
  /** The same for many claims, in their order. It never has more than a few reads under way, however many claims it is given. */
  claimHolders(claims: readonly ClaimKey[]): Promise<readonly (string | undefined)[]>;
  /** What a stream holds now, by name: for whom the values behind the digests are not known any more. */
  claimsHeldBy(stream: string): Promise<ClaimKey[]>;

  /** Lets events of the stream be dropped once they are older than this. Only telemetry streams ever get it. */
  setRetention(stream: string, maxAgeDays: number): Promise<void>;
  /** Drops at most so many expired events now; answers how many. 0 where the store's own server does that. */
  trimExpired(most: number): Promise<number>;
  /**
   * Takes an erased person out of the telemetry that was recorded of them: nothing names them together with a host afterwards.
   * Returns how many events it changed; any number of times is once. On PostgreSQL what was counted stays, without person and
   * device. On EventStoreDB the streams are truncated; the server's scavenge removes what is behind the mark.
   */
  forgetTelemetryOf(tenantId: TenantId, personId: string): Promise<number>;
  /** Brings to an end what crashes have left of claims; answers how many. 0 where claims commit with their events. */
  sweepClaims(): Promise<number>;

  /**
   * Where another thread of this process can open the same log to read its feed (`openLog`), to put more cores to work on a long history.
   * Absent from a store that one connection keeps busy enough, or whose connection cannot be described by data.
   */
  readonly logAddress?: LogAddress;

  /** True when positions are 1, 2, 3, …: the tail then asserts that it missed nothing. */
  readonly gapless: boolean;
  readonly name: 'postgres' | 'eventstoredb';
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Plain data, which survives being copied to a thread. A further adapter that offers its feed adds its own kind. */
export interface LogAddress {
  readonly kind: 'postgres';
  readonly database: DatabaseConfig;
}

/** A part of the feed: one tenant's events, of some types. The positions stay those of the whole. */
export interface AllStreamFilter {
  readonly tenantId: TenantId;
  readonly types: readonly string[];
}

export interface AllStreamPage {
  readonly events: readonly StoredEvent[];
  readonly position: Position;
  /** The store looked no further for now, though it found fewer events than it might: the log goes on behind `position`. */
  readonly more?: boolean;
}

export interface AppendNotification {
  /**
   * Events that this process itself has just appended, so that its own tail need not read them back. Only from a store without gaps
   * whose response tells everything that a read of the log would, the time included (PostgreSQL). EventStoreDB gives none.
   */
  readonly events?: readonly StoredEvent[];
  /** The newest position that somebody announced. */
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
}

/** The first claim digest of a tenant and kind; made by the codec from the value, with a key that no database holds. */
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
  /** Canonical JSON text (RFC 8785): personal fields sealed. */
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
   * Epoch milliseconds, by the clock of the server that holds the log: PostgreSQL's, or that of the EventStoreDB node that led at that
   * time. Every reader gets the same, so live projections, rebuilds and the audit chain agree. Order is `position`, never this: the
   * clocks of nodes differ.
   */
  readonly recordedAt: number;
  readonly data: unknown;
  /** The JSON text of `data` as it was written, from a store that has it at hand. */
  readonly text?: string;
  readonly metadata: EventMetadata;
}

/**
 * `recordedAt` is that of the last event, as every reader of the log gets it. It is absent from a store whose response does not tell it
 * (EventStoreDB): no clock of this process stands in for it, and reading the event back would cost every append what hardly any caller
 * asks for. Who does reads the event (`ExecutionResult.recordedAt`). Nothing is folded from it.
 */
export type AppendResult =
  | { readonly kind: 'appended'; readonly revision: bigint; readonly position: Position; readonly recordedAt?: number }
  | { readonly kind: 'wrongRevision'; readonly actual: bigint }
  | { readonly kind: 'claimed'; readonly claim: ClaimKey; readonly holder: string };

/** An event may take this much (data and metadata, bytes): what every supported server accepts in one append. */
export const MAX_APPEND_BYTES = 1024 * 1024 - 16 * 1024;

/** The store did not answer in time: whether the append happened is unknown, so the same append may be tried again. */
export class EventStoreUnavailable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'EventStoreUnavailable';
  }
}

/** An append that no store takes, however often it is tried. Nothing of it was written. */
export class AppendRefused extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'AppendRefused';
  }
}
