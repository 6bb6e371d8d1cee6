import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { Position } from '../kernel/event.ts';
import { serverIdentity } from '../database/server-identity.ts';
import type { LogTrust } from '../eventstore/log-trust.ts';
import type { EventStore } from '../eventstore/port.ts';
import type { FeedTail, LogMark } from './feed-tail.ts';

const EVERY_MS = 5_000;
/** While the log is in doubt. */
const SOON_MS = 500;
/** A doubt that its process has not repeated for so long is over: the process ended. */
const DOUBT_STANDS_SECONDS = 15;

const KNOWN = `
  select position::text, event_id, (select max(c.position)::text from cursors c where c.state <> 'retired') as furthest from log_watch`;
const MARK = 'update log_watch set position = $1, event_id = $2 where position is null or position < $1';
const DOUBT = 'update log_watch set doubt = $1, doubted_at = now()';
const CLEAR = 'update log_watch set doubt = null, doubted_at = null where doubt is not null';
const STANDING = `select doubt from log_watch where doubted_at > now() - make_interval(secs => $1)`;

interface Parts {
  readonly store: EventStore;
  readonly pool: pg.Pool;
  readonly tail: FeedTail;
  readonly trust: LogTrust;
  readonly log: Logger;
  /** This process projects: it writes down how far it knows the log. */
  readonly projects: boolean;
}

/**
 * Compares the log with what is known of it: with what this process has read, with a mark that processes leave in the database,
 * and with every checkpoint. A log only grows, so any difference means that it was restored from an older copy, replaced, or
 * taken over by a replica that lagged. Checked at the start, after every lost connection, and every few seconds.
 */
export class LogWatch {
  readonly #parts: Parts;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  #server: string | undefined;
  #marked: Position = 0n;
  #hasTold = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    if (this.#hasTold) await this.#parts.pool.query(CLEAR).catch(() => undefined);
  }

  /** One check. Throws where log or database cannot be reached; the log stays as doubted as it was. */
  async check(): Promise<void> {
    const { trust, log } = this.#parts;
    for (;;) {
      const epoch = trust.epoch;
      await this.#meetServer();
      const reason = await this.#contradiction();
      if (reason !== undefined) {
        if (trust.doubt?.kind !== 'contradicted') log.fatal({ reason }, 'the event log went backwards or is another one; nothing is written until it is whole again');
        trust.contradicted(reason);
        return this.#tell(reason);
      }
      const wasContradicted = trust.doubt?.kind === 'contradicted';
      if (wasContradicted) trust.suspect('it was in doubt');
      if (trust.confirmed(wasContradicted ? epoch + 1 : epoch)) {
        if (wasContradicted) log.warn('the event log is again the one that was known');
        return this.#leaveMark();
      }
    }
  }

  async #run(): Promise<void> {
    const { trust, log } = this.#parts;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await trust.changed(trust.holds ? EVERY_MS : SOON_MS, signal);
      if (signal.aborted) return;
      await this.check().catch((error: Error) => log.warn({ reason: error.message }, 'the event log could not be checked'));
      if (!trust.holds) await sleep(SOON_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  /** A server that was started anew, or a replica that was promoted, may lack what its predecessor had answered. */
  async #meetServer(): Promise<void> {
    const server = await serverIdentity(this.#parts.pool);
    const before = this.#server;
    this.#server = server;
    if (before !== undefined && before !== server) this.#parts.trust.suspect('the database server is another one, or was started anew');
  }

  async #contradiction(): Promise<string | undefined> {
    const { store, pool, tail } = this.#parts;
    // What is known is looked up before the end of the log: the log may grow meanwhile, never shrink.
    const { head: read, mark: seen } = tail;
    const { rows: [known] } = await pool.query<{ position: string | null; event_id: string | null; furthest: string | null }>({ name: 'log-known', text: KNOWN });
    const end = await store.head();
    const furthest = BigInt(known?.furthest ?? 0);
    if (furthest > end) return `it ends at position ${end}, but read models or reactions have come to ${furthest}`;
    if (read > end) return `it ends at position ${end}, but this process has read it up to ${read}`;
    const stored = known?.position && known.event_id ? { position: BigInt(known.position), id: known.event_id } : undefined;
    for (const mark of [seen, stored]) {
      if (mark && (await store.idAt(mark.position)) !== mark.id) return `the event at position ${mark.position} is not the one that was there before`;
    }
    return undefined;
  }

  async #leaveMark(): Promise<void> {
    const { projects, pool, tail } = this.#parts;
    if (this.#hasTold) await pool.query(CLEAR);
    this.#hasTold = false;
    const mark: LogMark | undefined = tail.mark;
    if (!projects || !mark || mark.position <= this.#marked) return;
    await pool.query({ name: 'log-mark', text: MARK, values: [String(mark.position), mark.id] });
    this.#marked = mark.position;
  }

  /** For `projections status`, which is another process and may find nothing wrong itself. */
  async #tell(reason: string): Promise<void> {
    this.#hasTold = true;
    await this.#parts.pool.query(DOUBT, [reason]);
  }
}

/** What some running process holds against the log, if any does. */
export async function standingDoubt(pool: pg.Pool): Promise<string | undefined> {
  const { rows } = await pool.query<{ doubt: string }>(STANDING, [DOUBT_STANDS_SECONDS]);
  return rows[0]?.doubt;
}
