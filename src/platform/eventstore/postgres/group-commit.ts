import type pg from 'pg';
import type { Position } from '../../kernel/event.ts';
import { isRefusal } from '../../database/refusal.ts';
import { ServerClock } from '../../database/server-clock.ts';
import {
  AppendRefused,
  EventStoreUnavailable,
  type Append,
  type ClaimKey,
  type StoredEvent,
  type AppendResult,
} from '../port.ts';
import { claimsOfGroup, encodeFitting, encodeGroup } from './group-encoding.ts';
import { allFit, recordedEvents, resultOf, type GroupResult } from './group-result.ts';

interface Waiting {
  readonly append: Append;
  readonly settle: (result: AppendResult) => void;
  readonly fail: (error: Error) => void;
}

/** The first parameter is the deadline. */
const placeholders = (count: number): string => Array.from({ length: count }, (_, index) => `$${index + 2}`).join(', ');
const appendWith = (parameters: number) => ({
  name: `append-events-${parameters}`,
  text: `select append_events(${placeholders(parameters)}) as answer where in_time($1)`,
});
const fitWith = (parameters: number) => ({
  name: `append-fitting-${parameters}`,
  text: `select head, at from append_fitting(${placeholders(parameters)}) where in_time($1)`,
});
const MAX_APPENDS = 512;
const MAX_BYTES = 4 * 1024 * 1024;
/** An append takes milliseconds, also behind others. A request gives up after twice this time. */
const IN_TIME_MS = 5_000;
/** For the reply of an append that was in time. */
const REPLY_MS = 500;
/** While one group is written, the next is encoded and sent. The lock in the database serializes them. */
const MAX_GROUPS = 2;
/** Minimum size of a second group. A smaller one would only take appends away from the next. */
const MIN_SECOND_GROUP = 32;

/**
 * Groups appends: those that arrive while a group is being written form the next one. A group is one transaction and
 * one flush to disk, and each append gets its own result. This gives most of the throughput.
 */
export class GroupCommit {
  readonly #pool: pg.Pool;
  readonly #appended: (head: Position, events: () => readonly StoredEvent[]) => void;
  readonly #running = new Set<ReadonlySet<string>>();
  #waiting: Waiting[] = [];
  #isFlushScheduled = false;
  /** The latest group had one append. */
  #wasSingle = false;
  #idle: (() => void)[] = [];
  readonly #clock = new ServerClock();
  /** A position that the log has reached. The database starts its search for the newest position there. */
  #head = '0';

  constructor(pool: pg.Pool, appended: (head: Position, events: () => readonly StoredEvent[]) => void) {
    this.#pool = pool;
    this.#appended = appended;
  }

  append(append: Append): Promise<AppendResult> {
    return new Promise((settle, fail) => {
      this.#waiting.push({ append, settle, fail });
      this.#scheduleFlush();
    });
  }

  /** Resolves when every append has its result. */
  async drain(): Promise<void> {
    if (this.#busy) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  get #busy(): boolean {
    return this.#waiting.length > 0 || this.#running.size > 0;
  }

  /**
   * Callers whose appends ended together usually append again together. `setImmediate` lets all of them join the group.
   * After a group of one there are no other callers to wait for.
   */
  #scheduleFlush(): void {
    if (this.#isFlushScheduled) return;
    this.#isFlushScheduled = true;
    const flush = () => {
      this.#isFlushScheduled = false;
      this.#flush();
    };
    if (this.#wasSingle) queueMicrotask(flush);
    else setImmediate(flush);
  }

  #flush(): void {
    const minSize = this.#running.size === 0 ? 1 : MIN_SECOND_GROUP;
    if (this.#running.size < MAX_GROUPS && this.#waiting.length >= minSize) {
      const { group, names } = this.#nextGroup();
      if (group.length > 0) {
        this.#wasSingle = group.length === 1;
        this.#running.add(names);
        void this.#write(group).finally(() => {
          this.#running.delete(names);
          this.#scheduleFlush();
        });
        this.#scheduleFlush();
      }
    }
    if (!this.#busy) for (const resolve of this.#idle.splice(0)) resolve();
  }

  /**
   * A stream or claim may be in only one running group: later appends that use it wait, so that they see the outcome.
   */
  #nextGroup(): { group: Waiting[]; names: ReadonlySet<string> } {
    const group: Waiting[] = [];
    const names = new Set<string>();
    const later: Waiting[] = [];
    const held = new Set<string>();
    // Splits a large batch of returning callers into two halves, so that one half is written while the other returns.
    const isSplit = this.#running.size === 0 && this.#waiting.length >= 2 * MIN_SECOND_GROUP;
    const most = isSplit ? Math.min(MAX_APPENDS, Math.ceil(this.#waiting.length / 2)) : MAX_APPENDS;
    this.#waiting = this.#waiting.filter((waiting) => !gaveUp(waiting));
    const isUsed = (name: string) => names.has(name) || held.has(name) || this.#isRunning(name);
    let bytes = 0;
    for (const waiting of this.#waiting) {
      const own = namesOf(waiting.append);
      const full = group.length >= most || bytes > MAX_BYTES;
      const waits = full || own.some(isUsed);
      (waits ? later : group).push(waiting);
      // Waiting appends also reserve their streams and claims, to keep the order of the stream.
      for (const name of own) (waits ? held : names).add(name);
      if (!waits) for (const event of waiting.append.events) bytes += event.data.length;
    }
    this.#waiting = later;
    return { group, names };
  }

  #isRunning(name: string): boolean {
    for (const names of this.#running) if (names.has(name)) return true;
    return false;
  }

  async #write(group: Waiting[]): Promise<void> {
    let result: GroupResult;
    try {
      result = await this.#appendGroup(group.map(({ append }) => append));
    } catch (cause) {
      if (group.length > 1 && isRefusal(cause)) return this.#writeSeparately(group);
      const error = failureOf(cause);
      for (const waiting of group) waiting.fail(error);
      return;
    }
    let head = 0n;
    const written: (readonly [Append, number])[] = [];
    const takes = claimsOfGroup(
      group.map(({ append }) => append),
      'claim',
    );
    group.forEach(({ append, settle }, at) => {
      const verdict = resultOf(append, result, at, takes);
      if (verdict.kind === 'appended') {
        written.push([append, at]);
        head = verdict.position;
      }
      settle(verdict);
    });
    if (written.length === 0) return;
    this.#head = head.toString();
    this.#appended(head, () => written.flatMap(([append, at]) => recordedEvents(append, result, at)));
  }

  async #appendGroup(appends: readonly Append[]): Promise<GroupResult> {
    // An append without events inserts no row, so no unique key can detect a conflict.
    if (appends.some(({ events }) => events.length === 0)) return this.#appendEach(appends);
    return (await this.#appendFitting(appends)) ?? this.#appendEach(appends);
  }

  /** Tries the fast path, which appends the whole group or nothing. Undefined if any append conflicts. */
  async #appendFitting(appends: readonly Append[]): Promise<GroupResult | undefined> {
    const values = [this.#head, ...encodeFitting(appends)];
    const askedAt = performance.now();
    const { head, at } = await this.#inTime<{ head: number | null; at: number }>(
      fitWith(values.length),
      values,
      appends,
    );
    if (head !== null) this.#clock.heard(at, askedAt);
    return head === null ? undefined : allFit(appends, head, at);
  }

  async #appendEach(appends: readonly Append[]): Promise<GroupResult> {
    const values = encodeGroup(appends);
    const askedAt = performance.now();
    const { answer } = await this.#inTime<{ answer: GroupResult }>(appendWith(values.length), values, appends);
    this.#clock.heard(answer.at, askedAt);
    return answer;
  }

  /** An append that the server gets too late does nothing: its sender has said so. */
  async #inTime<Row extends pg.QueryResultRow>(
    statement: { readonly name: string; readonly text: string },
    values: readonly unknown[],
    appends: readonly Append[],
  ): Promise<Row> {
    const withinMs = Math.min(IN_TIME_MS, ...appends.map(timeLeft));
    if (withinMs <= 0) throw new EventStoreUnavailable(GAVE_UP);
    const deadline = this.#clock.deadlineIn(this.#pool.options.statement_timeout ? withinMs : 0);
    const { rows } = await this.#pool
      .query<Row>({ ...statement, values: [deadline, ...values] })
      .catch(this.#clock.failed);
    return rows[0]!;
  }

  /** One append that the database rejects (an invalid value) must not fail the other appends of its group. */
  async #writeSeparately(group: Waiting[]): Promise<void> {
    for (const waiting of group) await this.#write([waiting]);
  }
}

const GAVE_UP = 'the append waited until its caller gave up';

/** Milliseconds in which the server has to begin, so that the caller still learns of it. */
const timeLeft = ({ until = Number.POSITIVE_INFINITY }: Append): number => until - REPLY_MS - performance.now();

/** Fails an append that it is too late for. */
function gaveUp({ append, fail }: Waiting): boolean {
  const isLate = timeLeft(append) <= 0;
  if (isLate) fail(new EventStoreUnavailable(GAVE_UP));
  return isLate;
}

/** An invalid value fails every time. A unique violation (class 23) may be a race, so it may be retried. */
const failureOf = (cause: unknown): Error =>
  isRefusal(cause) && !String((cause as { code?: string }).code).startsWith('23')
    ? new AppendRefused('the event store rejected these values', { cause })
    : new EventStoreUnavailable('the append could not be confirmed', { cause });

const claimName = ({ tenantId, kind, digest }: ClaimKey) => `${tenantId}/${kind}/${digest}`;
const namesOf = ({ stream, claim, release }: Append) =>
  claim.length + release.length === 0 ? [stream] : [stream, ...claim.map(claimName), ...release.map(claimName)];
