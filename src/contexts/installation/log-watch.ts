import { RepeatedWarnings } from '../../platform/observability/repeated-warnings.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { Position } from '../../platform/kernel/event.ts';
import { serverIdentity } from '../../platform/database/server-identity.ts';
import type { TenantPool } from '../../platform/database/tenant-pool.ts';
import type { LogTrust } from '../../platform/eventstore/log-trust.ts';
import type { EventStore } from '../../platform/eventstore/port.ts';
import type { InstallationIdentity } from './installation-identity.ts';
import type { LogDoubts } from './log-doubts.ts';
import type { UnfinishedRestore } from './restore/unfinished-restore.ts';
import { displacedReason, mismatchOf, movedToReason, type Mismatch } from './mismatch.ts';
import { TablesCheck } from './tables-check.ts';
import { storeOfLog } from './log-copy/moved-log.ts';
import type { CatchUpSubscription } from '../../platform/projector/catch-up-subscription.ts';
import type { LogMark } from '../../platform/projector/log-cut.ts';

const EVERY_MS = 5_000;
/** Interval in which the doubts of other processes are heeded: what they refuse, this process must not acknowledge. */
const HEED_MS = 1_000;
/** Interval while the log is in doubt. */
const SOON_MS = 500;

const KNOWN = `
  select position::text, event_id, (select max(c.position)::text from cursors c where c.state <> 'retired') as furthest
    from log_watch`;
const MARK = 'update log_watch set position = $1, event_id = $2 where position is null or position < $1';
/** Of a cut: also for other processes and later starts. The marks of the log's new course would hide it. */
const EVIDENCE = 'update log_watch set position = $1, event_id = $2 where event_id is distinct from $2';

interface Parts {
  readonly store: EventStore;
  readonly pool: pg.Pool;
  readonly service: TenantPool;
  readonly identity: InstallationIdentity;
  readonly executor: Parameters<InstallationIdentity['adopt']>[0];
  readonly subscription: CatchUpSubscription;
  readonly trust: LogTrust;
  readonly doubts: LogDoubts;
  readonly unfinishedRestore: UnfinishedRestore;
  readonly log: Logger;
  /** True if this process projects; then it records how far it knows the log. */
  readonly projects: boolean;
  /** True if this process only looks. It records nothing, not even what it finds. */
  readonly onlyLooks: boolean;
}

interface Known {
  readonly position: string | null;
  readonly event_id: string | null;
  readonly furthest: string | null;
}

/**
 * Compares the log with everything known about it: its identity, the events this process has read, the mark in the
 * database, and every checkpoint.
 *
 * A log only grows and tables follow it. Any difference means that one of them was restored from an older copy,
 * replaced, or taken over by a lagging replica.
 *
 * If tables and log went back together, only processes from before can tell. So every process also heeds what others say,
 * for as long as they say it.
 *
 * Checked at the start, after every lost connection, and every few seconds.
 */
export class LogWatch {
  readonly #parts: Parts;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  #server: string | undefined;
  #marked: Position = 0n;
  /**
   * What this process knew when trust in the log was last lost. What it has read since then may be of another log: of
   * an older copy in which strangers wrote on, for example.
   */
  #before: Pick<CatchUpSubscription, 'head' | 'mark'> | undefined;
  #adopts = false;
  #isAdopted = false;
  readonly #tables: TablesCheck;
  readonly #doubts: LogDoubts;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#doubts = parts.doubts;
    this.#tables = new TablesCheck(parts);
  }

  start(): void {
    const { subscription, trust } = this.#parts;
    subscription.cut.whenSuspected(() => trust.suspect('an event was appended at a position that had another one'));
    trust.onDoubt(() => (this.#before ??= { head: subscription.head, mark: subscription.mark }));
    this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    await this.#doubts.takeBack().catch(() => undefined);
  }

  /** Records the installation's identity if it is missing, once the read models have their tables. */
  async adopt(): Promise<void> {
    this.#adopts = true;
    await this.#adoptNow();
  }

  /** Runs one check. Throws if the log or the database cannot be reached; the state of trust then stays unchanged. */
  async check(): Promise<void> {
    const { trust, log } = this.#parts;
    for (;;) {
      const epoch = trust.epoch;
      await this.#meetServer();
      // Confirmed by a second look: another process may be writing the identity of a new installation.
      const found = (await this.#mismatch()) && (await this.#mismatch());
      if (found) {
        this.#refuse(found);
        return this.#tell(found);
      }
      await this.#doubts.takeBack();
      const said = await this.#doubts.ofOthers();
      if (said) return this.#refuse(said);
      const wasContradicted = trust.doubt?.kind === 'contradicted';
      if (wasContradicted) trust.suspect('it was in doubt');
      // No check may have seen the other log, if it was there for a moment only.
      if (this.#before) this.#parts.subscription.returnTo(this.#before);
      if (trust.confirmed(wasContradicted ? epoch + 1 : epoch)) {
        this.#before = undefined;
        if (wasContradicted) log.warn('the event log matches again');
        return this.#leaveMark();
      }
    }
  }

  #refuse({ kind, reason }: Mismatch): void {
    const { trust, log } = this.#parts;
    if (trust.doubt?.kind !== 'contradicted')
      log.fatal(
        { mismatch: kind },
        `${reason}; nothing is written. Run \`castellan restore status\` to see how to recover`,
      );
    trust.contradicted(kind, reason);
  }

  async #adoptNow(): Promise<void> {
    const { trust, identity, executor } = this.#parts;
    if (!this.#adopts || this.#isAdopted || !trust.holds) return;
    // Another installation may have written its identity to the same log first.
    if (await identity.adopt(executor)) await this.check();
    this.#isAdopted = trust.holds;
  }

  async #run(): Promise<void> {
    const { trust, log } = this.#parts;
    const warnings = new RepeatedWarnings(log);
    const { signal } = this.#stop;
    let dueAt = 0;
    while (!signal.aborted) {
      await trust.changed(trust.holds ? HEED_MS : SOON_MS, signal);
      if (signal.aborted) return;
      if (trust.holds && performance.now() < dueAt && !(await this.#isDoubtedElsewhere())) continue;
      dueAt = performance.now() + EVERY_MS;
      await this.check()
        .then(() => this.#adoptNow())
        .catch((error: Error) => warnings.warn({ reason: error.message }, 'the event log could not be checked'));
      if (!trust.holds) await sleep(SOON_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  async #isDoubtedElsewhere(): Promise<boolean> {
    // A database that cannot be asked makes the next check due by itself.
    return (await this.#doubts.ofOthers().catch(() => undefined)) !== undefined;
  }

  /** A restarted server or a promoted replica may lack commits that its predecessor had confirmed. */
  async #meetServer(): Promise<void> {
    const server = await serverIdentity(this.#parts.pool);
    const before = this.#server;
    this.#server = server;
    if (before !== undefined && before !== server)
      this.#parts.trust.suspect('the database server is another one, or was started anew');
  }

  async #mismatch(): Promise<Mismatch | undefined> {
    const { store, pool, subscription, identity } = this.#parts;
    // Checked first: positions of one store say nothing about the log of the other.
    const home = await storeOfLog(pool);
    if (home && home !== store.name) return movedToReason(home);
    const unfinished = await this.#parts.unfinishedRestore.mismatch();
    if (unfinished) return unfinished;
    // The log is read before the tables. The identity is written to the tables first, so in this order it can never
    // appear to be in the log alone.
    const inLog = await identity.inLog();
    const inTables = await identity.inTables();
    // Read the known positions before the end of the log: the log may grow in between, but never shrink.
    const { head: read, mark: seen } = this.#before ?? subscription;
    const known = (await pool.query<Known>({ name: 'log-known', text: KNOWN })).rows[0]!;
    const end = await store.head();
    const isUsed = inLog !== undefined || (await store.readAll(0n, 1)).events.length > 0;
    const furthest = BigInt(known.furthest ?? 0);
    const found = mismatchOf({
      own: identity.keys,
      log: { identity: inLog, end, isUsed },
      tables: { identity: inTables, furthest },
      read,
    });
    return found ?? (await this.#displaced(seen, known)) ?? (await this.#tables.mismatch(furthest, end));
  }

  async #displaced(seen: LogMark | undefined, { position, event_id: id }: Known): Promise<Mismatch | undefined> {
    const { lost } = this.#parts.subscription.cut;
    if (lost) {
      if (!this.#parts.onlyLooks) await this.#parts.pool.query(EVIDENCE, [String(lost.position), lost.id]);
      return displacedReason(lost.position);
    }
    const stored = position && id ? { position: BigInt(position), id } : undefined;
    for (const mark of [seen, stored]) {
      if (mark && (await this.#parts.store.idAt(mark.position)) !== mark.id) return displacedReason(mark.position);
    }
    return undefined;
  }

  async #leaveMark(): Promise<void> {
    const { projects, pool, subscription } = this.#parts;
    const mark: LogMark | undefined = subscription.mark;
    if (!projects || !mark || mark.position <= this.#marked) return;
    await pool.query({ name: 'log-mark', text: MARK, values: [String(mark.position), mark.id] });
    this.#marked = mark.position;
  }

  /** For other processes, and for commands, which may find nothing wrong themselves. */
  async #tell(found: Mismatch): Promise<void> {
    if (!this.#parts.onlyLooks) await this.#doubts.tell(found);
  }
}
