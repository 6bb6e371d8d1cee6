import { START, type Position } from '../../kernel/event.ts';
import type { TenantId } from '../../kernel/ids.ts';
import { inParallel } from '../../kernel/in-parallel.ts';
import type {
  Append,
  ClaimKey,
  EventStore,
  AllStreamFilter,
  AppendNotification,
  AllStreamPage,
  StoredEvent,
  AppendResult,
  StreamPart,
} from '../port.ts';
import { Appender } from './appender.ts';
import { ClaimRegister } from './claim-register.ts';
import { claimOfStream, claimStream } from './claim-stream.ts';
import { ClaimSweeper } from './claim-sweeper.ts';
import { Connection } from './connection.ts';
import { ConfigError } from '../../config-error.ts';
import { serverSettings, type ServerSettings } from './connection-string.ts';
import { diagnoseConnection } from './diagnosis.ts';
import { missingRights } from './access-rights.ts';
import { Deadline, type OperationTimeouts } from './deadline.ts';
import { releasedBy, claimedBy } from './event-encoding.ts';
import { AllStreamReader } from './all-stream-reader.ts';
import { Growth } from './growth.ts';
import { StreamHistory } from './stream-history.ts';
import { LogExport } from './log-export.ts';
import { LogImport } from './log-import.ts';
import { setStreamMetadata, type StoreAccess } from './stream-metadata.ts';
import { StreamReader } from './stream-reader.ts';
import { StreamWriter } from './stream-writer.ts';

export interface EventStoreDbOptions {
  /** Timeout of an operation with all its retries, in milliseconds. */
  readonly timeoutMs?: number;
  /**
   * Timeout of a single call, in milliseconds. Default: half of the above, so that a lost response can be retried once.
   */
  readonly callTimeoutMs?: number;
  /** How long a reservation without its event is left alone, in milliseconds. */
  readonly claimGraceMs?: number;
  /** How long the subscription may be silent before it is checked, in milliseconds. */
  readonly watchdogMs?: number;
  readonly warn?: (message: string, error?: unknown) => void;
}

const SECONDS_PER_DAY = 86_400;
const READ_AT_ONCE = 500;
/** Concurrent claim look-ups of one call: each is one to three reads, and the same server takes the appends. */
const STREAMS_AT_ONCE = 24;
const EVERYTHING = Number.MAX_SAFE_INTEGER;

/** The store for installations that need more than one machine: EventStoreDB 23.10 and later, or KurrentDB. */
export class EventStoreDbEventStore implements EventStore {
  readonly name = 'eventstoredb';
  readonly gapless = false;
  readonly #appending: Connection;
  readonly #reading: Connection;
  readonly #reader: StreamReader;
  readonly #writer: StreamWriter;
  readonly #history: StreamHistory;
  readonly #feed: AllStreamReader;
  readonly #growth: Growth;
  readonly #claims: ClaimRegister;
  readonly #appender: Appender;
  readonly #sweeper: ClaimSweeper;
  readonly #timeoutMs: OperationTimeouts;
  readonly #settings: ServerSettings;

  /** @param url `esdb://…` or `kurrentdb://…`. Does not connect before the first call. */
  constructor(url: string, options: EventStoreDbOptions = {}) {
    const { timeoutMs = 5_000, claimGraceMs = 10_000, watchdogMs = 15_000, warn = () => undefined } = options;
    this.#timeoutMs = { totalMs: timeoutMs, callMs: options.callTimeoutMs ?? timeoutMs / 2 };
    // Two connections, so that a flood of reads or a dropped subscription never aborts an append.
    this.#settings = serverSettings(url);
    this.#appending = new Connection(this.#settings);
    this.#reading = new Connection(this.#settings);
    this.#reader = new StreamReader(this.#reading, this.#timeoutMs);
    this.#writer = new StreamWriter(this.#appending, this.#reader);
    this.#history = new StreamHistory(this.#reader);
    this.#feed = new AllStreamReader(this.#reading, this.#reader, this.#timeoutMs);
    this.#growth = new Growth(this.#reading, this.#feed, { watchdogMs, warn });
    this.#claims = new ClaimRegister(this.#writer, this.#reader, claimGraceMs);
    this.#appender = new Appender(this.#writer, this.#history, this.#claims, this.#timeoutMs);
    this.#sweeper = new ClaimSweeper(this.#tools, this.#feed, this.#claims);
    this.onInterruption(() => this.#feed.forgetEnd());
  }

  /**
   * Checks that the server is usable. Throws a `ConfigError` that says in one sentence what is wrong and what to do.
   */
  async meet(): Promise<void> {
    try {
      await this.ping();
    } catch (error) {
      throw new ConfigError(await diagnoseConnection(this.#settings, error));
    }
    const missing = await missingRights(this.#tools, this.#settings);
    if (missing.length > 0) {
      throw new ConfigError(
        `${this.#settings.givenBy.url}: its user may not ${missing.join(', ')}: run "castellan eventstore rights --grant" with an administrator's credentials`,
      );
    }
  }

  async append(append: Append): Promise<AppendResult> {
    const verdict = await this.#appender.append(append);
    if (verdict.kind === 'appended') this.#growth.announce(verdict.position);
    return verdict;
  }

  async readStream(stream: string, { from = 0n, limit = EVERYTHING } = {}): Promise<StoredEvent[]> {
    return (await this.#history.since(stream, from, limit)).events;
  }

  async readStreams(asked: readonly StreamPart[]): Promise<readonly (readonly StoredEvent[])[]> {
    const found = Array.from<readonly StoredEvent[]>({ length: asked.length });
    await inParallel(STREAMS_AT_ONCE, asked, async ({ stream, from }, at) => {
      found[at] = await this.readStream(stream, { from });
    });
    return found;
  }

  readStreamTail(stream: string, limit: number): Promise<StoredEvent[]> {
    return this.#history.tail(stream, limit);
  }

  readAll(after: Position, limit: number, filter?: AllStreamFilter): Promise<AllStreamPage> {
    return this.#feed.read(after, limit, filter);
  }

  head(): Promise<Position> {
    return this.#feed.head();
  }

  eventAt(position: Position): Promise<StoredEvent | undefined> {
    return this.#feed.eventAt(position);
  }

  idAt(position: Position): Promise<string | undefined> {
    return this.#feed.idAt(position);
  }

  onGrowth(wake: (hint?: AppendNotification) => void): () => void {
    return this.#growth.subscribe(wake);
  }

  onInterruption(heard: () => void): () => void {
    const ends = [this.#growth.onDrop(heard), this.#appending.onDiscard(heard), this.#reading.onDiscard(heard)];
    return () => ends.forEach((end) => end());
  }

  claimHolder(claim: ClaimKey): Promise<string | undefined> {
    return this.#claims.holder(claimStream(claim), new Deadline(this.#timeoutMs));
  }

  async claimHolders(claims: readonly ClaimKey[]): Promise<readonly (string | undefined)[]> {
    const holders = Array.from<string | undefined>({ length: claims.length });
    await inParallel(STREAMS_AT_ONCE, claims, async (claim, at) => {
      holders[at] = await this.claimHolder(claim);
    });
    return holders;
  }

  async claimsHeldBy(stream: string): Promise<ClaimKey[]> {
    const held = new Set<string>();
    for (let from = 0n; ;) {
      const page = await this.#reader.forwards(stream, from, READ_AT_ONCE);
      for (const raw of page) {
        for (const name of releasedBy(raw)) held.delete(name);
        for (const name of claimedBy(raw)) held.add(name);
      }
      if (page.length < READ_AT_ONCE) return [...held].map(claimOfStream);
      from = page.at(-1)!.revision + 1n;
    }
  }

  sweepClaims(): Promise<number> {
    return this.#sweeper.sweep();
  }

  setRetention(stream: string, maxAgeDays: number): Promise<void> {
    return setStreamMetadata(this.#tools, stream, '$maxAge', maxAgeDays * SECONDS_PER_DAY);
  }

  async forgetTelemetryOf(tenantId: TenantId, personId: string): Promise<number> {
    const filter = { tenantId, types: ['TelemetryRecorded'] };
    const newest = new Map<string, bigint>();
    let count = 0;
    for (let after = START; ;) {
      const { events, position } = await this.#feed.read(after, READ_AT_ONCE, filter);
      for (const { stream, revision, data } of events) {
        if ((data as { userId?: unknown }).userId !== personId) continue;
        newest.set(stream, revision);
        count += 1;
      }
      if (position === after) break;
      after = position;
    }
    for (const [stream, revision] of newest) await setStreamMetadata(this.#tools, stream, '$tb', Number(revision) + 1);
    return count;
  }

  /** For copying a whole log out of this store, or into it (`src/contexts/installation/log-copy/`). */
  get logExport(): LogExport {
    return new LogExport(this.#feed);
  }

  get logImport(): LogImport {
    return new LogImport(this.#tools, this.#feed);
  }

  /** The server's scavenge does that. */
  trimExpired(): Promise<number> {
    return Promise.resolve(0);
  }

  async ping(): Promise<void> {
    await this.#reader.newest();
  }

  async close(): Promise<void> {
    this.#growth.stop();
    this.#feed.close();
    await this.#appender.drain();
    await Promise.all([this.#appending.close(), this.#reading.close()]);
  }

  get #tools(): StoreAccess {
    return { reader: this.#reader, writer: this.#writer, patience: this.#timeoutMs };
  }
}
