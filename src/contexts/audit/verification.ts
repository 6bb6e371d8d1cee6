import { GENESIS, type ChainHead } from './domain/entry.ts';
import { auditHeadStream } from './domain/sealed-head.ts';
import type { EventStore } from '../../platform/eventstore/port.ts';
import type { Position } from '../../platform/kernel/event.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import type { TenantReads } from '../../platform/kernel/query.ts';
import { AuditTable, BELOW_FIRST_POSITION } from './audit-table.ts';
import { continuesChain, diagnoseChain, type Fault } from './diagnosis.ts';
import { hashOfEntry, hashAtSequence } from './hashes.ts';
import { replayChain, type ChainSource, type ReplayedPage } from './chain-replay.ts';
import type { FiledSeal } from './filed-seals.ts';
import { sealedUpTo, Seals, sealsInLog } from './seals.ts';
import { verifySegments, type VerifiedPrefix, type SegmentVerification } from './chain-segments.ts';

/** All evidence about a tenant's chain. */
export interface Evidence extends ChainSource {
  readonly store: Pick<EventStore, 'readAll' | 'readStream' | 'readStreamTail' | 'head'>;
  readonly reads: (tenantId: TenantId) => TenantReads;
  /** The tenant's seals in the file outside the databases. */
  filed(tenantId: TenantId): Partial<FiledSeal>[];
  /** Verifies a long chain in parallel segments; without it, the chain is verified sequentially. */
  readonly verification?: SegmentVerification | undefined;
  /** Waits briefly until the read model has passed a position, and returns the position that it has reached. */
  projectedTo(position: Position): Promise<Position>;
}

export interface Findings {
  readonly fault: Fault | undefined;
  /** Entries that were compared and agreed. */
  readonly checked: number;
  /** The log has events that the read model has not processed yet. */
  readonly behind: boolean;
}

/** One pass over a tenant's chain, in constant memory. */
export class Verification {
  readonly #evidence: Evidence;
  readonly #tenantId: TenantId;
  readonly #quick: boolean;
  readonly #table: AuditTable;
  #filed!: Seals;
  #logged!: Seals;
  #until = 0n;
  #projected = 0n;
  #behind = false;
  /** Up to `#agreed`, table and log agree; the log itself has been replayed up to `#replayed`. */
  #agreed: ChainHead = GENESIS;
  #replayed: ChainHead = GENESIS;
  #after = BELOW_FIRST_POSITION;

  /** `quick`: stops at the first anomaly without diagnosing it. */
  constructor(evidence: Evidence, tenantId: TenantId, quick: boolean) {
    this.#evidence = evidence;
    this.#tenantId = tenantId;
    this.#quick = quick;
    this.#table = new AuditTable(evidence.reads(tenantId));
  }

  async run(): Promise<Findings> {
    await this.#openSeals();
    const start = await this.#verifyInSegments();
    if (!start) return this.#findings(this.#somethingOdd());
    const pages = replayChain(this.#evidence, this.#tenantId, start, this.#until, this.#quick);
    for (let next = pages.next(); ;) {
      const { value: page, done } = await next;
      if (done) break;
      next = pages.next(); // hashed while the table is queried
      next.catch(() => undefined); // reported where it is awaited
      const fault = await this.#faultIn(page);
      if (fault) return this.#findings(fault);
    }
    return this.#findings(
      this.#unmetSeal() ??
        (await this.#faultAtTheEnd()) ??
        this.#filed.damage ??
        this.#logged.damage ??
        this.#sealTakenOut(),
    );
  }

  /** The file is read before the log's head, so every seal in it refers to a log that ends at or before `until`. */
  async #openSeals(): Promise<void> {
    const { store, key, filed } = this.#evidence;
    this.#filed = await Seals.open(key, this.#tenantId, filed(this.#tenantId).values(), false);
    this.#until = await store.head();
    this.#logged = await Seals.open(key, this.#tenantId, sealsInLog(store, this.#tenantId, this.#until), true);
  }

  /**
   * Where the sequential pass starts: at the beginning, or after the segments that were verified in parallel. Undefined
   * if they found an anomaly.
   */
  async #verifyInSegments(): Promise<VerifiedPrefix | undefined> {
    let reached: VerifiedPrefix = { head: GENESIS, position: 0n };
    const { verification } = this.#evidence;
    if (!this.#quick || !verification) return reached;
    for await (const { agrees, hashes, head, position } of verifySegments(
      verification,
      this.#table,
      this.#tenantId,
      this.#until,
    )) {
      if (!agrees || (await this.#contradiction((sequence) => hashAtSequence(hashes, sequence)))) return undefined;
      reached = { head, position };
      this.#agreed = this.#replayed = head;
      this.#after = this.#projected = position;
    }
    return reached;
  }

  async #contradiction(hashOf: (sequence: number) => string | undefined): ReturnType<Seals['contradiction']> {
    return (await this.#filed.contradiction(hashOf)) ?? (await this.#logged.contradiction(hashOf));
  }

  async #faultIn(page: ReplayedPage): Promise<Fault | undefined> {
    const difference = await this.#differenceIn(page);
    const contradiction = await this.#contradiction((sequence) => hashOfEntry(page.entries, sequence));
    this.#replayed = page.entries.at(-1) ?? this.#replayed;
    // Before the difference, table and log agree. So an entry there that contradicts a seal was changed in both.
    if (contradiction && (!difference || contradiction.sealed < difference.sequence)) return contradiction;
    return difference ?? (page.broken && this.#brokenBy(page.broken.position));
  }

  async #differenceIn(page: ReplayedPage): Promise<Fault | undefined> {
    const upTo = await this.#comparable(page);
    const beyond = page.entries.findIndex(({ position }) => position > upTo);
    const count = beyond < 0 ? page.entries.length : beyond;
    if (beyond >= 0) this.#behind = true;
    if (upTo <= this.#after) return undefined;
    const after = this.#after;
    const before = this.#agreed;
    if (!(await this.#table.says(page, count, after, upTo))) {
      if (this.#quick) return this.#somethingOdd();
      const sealed = await this.#sealedUpTo();
      const fault = await diagnoseChain({
        source: this.#evidence,
        tenantId: this.#tenantId,
        table: this.#table,
        page,
        count,
        after,
        upTo,
        before,
        sealed,
      });
      if (fault) return fault;
    }
    this.#after = upTo;
    this.#agreed = page.entries[count - 1] ?? this.#agreed;
    return undefined;
  }

  /** The result of the quick pass; the strict pass then diagnoses the fault. */
  #somethingOdd(): Fault {
    return { sequence: this.#agreed.sequence + 1, reason: 'entry_changed' };
  }

  async #sealedUpTo(): Promise<number> {
    const { key, store, filed } = this.#evidence;
    const newest = await store.readStreamTail(auditHeadStream(this.#tenantId), 1);
    return sealedUpTo(key, this.#tenantId, [...filed(this.#tenantId), ...newest.map(({ data }) => data)]);
  }

  /**
   * How far this page can be compared with the table: to its end, unless the read model has not reached its last entry.
   */
  async #comparable(page: ReplayedPage): Promise<Position> {
    const needed = page.entries.at(-1)?.position ?? 0n;
    if (needed > this.#projected) this.#projected = await this.#evidence.projectedTo(needed);
    if (needed > this.#projected) return this.#projected;
    if (page.broken) return page.broken.position - 1n;
    return page.last ? this.#until : page.position;
  }

  /** An event that cannot be turned into an entry: it was changed later, or the application never wrote it. */
  async #brokenBy(position: Position): Promise<Fault> {
    const [row] = await this.#table.rows(position - 1n, position);
    return { sequence: this.#replayed.sequence + 1, reason: row ? 'event_changed' : 'event_added' };
  }

  #unmetSeal(): Fault | undefined {
    return this.#filed.unmet || this.#logged.unmet
      ? { sequence: this.#replayed.sequence + 1, reason: 'log_truncated' }
      : undefined;
  }

  async #faultAtTheEnd(): Promise<Fault | undefined> {
    const sequence = this.#agreed.sequence + 1;
    const ends = await this.#table.ends();
    // Rows beyond `until` belong to events that were appended since. Rows beyond the log's head belong to no event.
    if (BigInt(ends.position ?? 0) > (await this.#evidence.store.head())) {
      const beyond = await this.#table.next(this.#until);
      const wasEvent = beyond !== undefined && continuesChain(this.#evidence.key, this.#agreed, beyond);
      return { sequence, reason: wasEvent ? 'log_truncated' : 'entry_added' };
    }
    const sound = ends.head_sequence === ends.sequence && ends.head_hash === ends.hash;
    return sound ? undefined : { sequence, reason: 'table_head_changed' };
  }

  /** The file is written after the log, so the log must contain every seal in the file. */
  #sealTakenOut(): Fault | undefined {
    return this.#filed.sealed > this.#logged.sealed
      ? { sequence: this.#logged.sealed + 1, reason: 'seal_missing' }
      : undefined;
  }

  #findings(fault: Fault | undefined): Findings {
    return { fault, checked: this.#agreed.sequence, behind: this.#behind };
  }
}
