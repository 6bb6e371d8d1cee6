import type pg from 'pg';
import type { Position } from '../../kernel/event.ts';
import { isRefusal } from '../../database/refusal.ts';
import {
  AppendRefused,
  EventStoreUnavailable,
  type Append,
  type ClaimKey,
  type StoredEvent,
  type AppendResult,
} from '../port.ts';
import { claimsOfGroup, encodeFitting, encodeGroup } from './group-encoding.ts';

interface Waiting {
  readonly append: Append;
  readonly answer: (verdict: AppendResult) => void;
  readonly fail: (error: Error) => void;
}

interface GroupAnswer {
  ok: boolean[];
  actual: number[];
  base: number[];
  at: number;
  lost: (number | null)[];
  holders: string[];
}

const placeholders = (count: number): string => Array.from({ length: count }, (_, index) => `$${index + 1}`).join(', ');
const appendWith = (parameters: number) => ({
  name: `append-events-${parameters}`,
  text: `select append_events(${placeholders(parameters)}) as answer`,
});
const fitWith = (parameters: number) => ({
  name: `append-fitting-${parameters}`,
  text: `select head, at from append_fitting(${placeholders(parameters)})`,
});
const MAX_APPENDS = 512;
const MAX_BYTES = 4 * 1024 * 1024;
/** While one group is written the next is encoded and sent: the store's lock, not this process, puts them in a row. */
const MAX_GROUPS = 2;
/** A second group that leaves with less than this would only keep its appends from a bigger one. */
const WORTH_A_GROUP = 32;

/**
 * Appends that arrive while a group is being written wait and become the next group: one transaction, one flush to disk,
 * and each gets its own verdict. That is where the throughput comes from.
 */
export class GroupCommit {
  readonly #pool: pg.Pool;
  readonly #appended: (head: Position, events: () => readonly StoredEvent[]) => void;
  readonly #underWay = new Set<ReadonlySet<string>>();
  #waiting: Waiting[] = [];
  #leaving = false;
  /** The latest group was of one append. */
  #alone = false;
  #idle: (() => void)[] = [];
  /** A position that the log has reached: where the database looks for the newest. */
  #head = '0';

  constructor(pool: pg.Pool, appended: (head: Position, events: () => readonly StoredEvent[]) => void) {
    this.#pool = pool;
    this.#appended = appended;
  }

  append(append: Append): Promise<AppendResult> {
    return new Promise((answer, fail) => {
      this.#waiting.push({ append, answer, fail });
      this.#leaveSoon();
    });
  }

  /** Resolves when everything that was handed in has its verdict. */
  async drain(): Promise<void> {
    if (this.#busy) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  get #busy(): boolean {
    return this.#waiting.length > 0 || this.#underWay.size > 0;
  }

  /** Callers that were answered together come back together: all of them are let in before the next group leaves. Who was alone is not waited for. */
  #leaveSoon(): void {
    if (this.#leaving) return;
    this.#leaving = true;
    const leave = () => {
      this.#leaving = false;
      this.#leave();
    };
    if (this.#alone) queueMicrotask(leave);
    else setImmediate(leave);
  }

  #leave(): void {
    const worth = this.#underWay.size === 0 ? 1 : WORTH_A_GROUP;
    if (this.#underWay.size < MAX_GROUPS && this.#waiting.length >= worth) {
      const { group, names } = this.#nextGroup();
      if (group.length > 0) {
        this.#alone = group.length === 1;
        this.#underWay.add(names);
        void this.#write(group).finally(() => {
          this.#underWay.delete(names);
          this.#leaveSoon();
        });
        this.#leaveSoon();
      }
    }
    if (!this.#busy) for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** A stream or a claim may be under way only once: its second mention waits, so that it meets the first's outcome. */
  #nextGroup(): { group: Waiting[]; names: ReadonlySet<string> } {
    const group: Waiting[] = [];
    const names = new Set<string>();
    const later: Waiting[] = [];
    const held = new Set<string>();
    // Callers that come back together are parted here, so that from now on one half is written while the other comes back.
    const parted = this.#underWay.size === 0 && this.#waiting.length >= 2 * WORTH_A_GROUP;
    const most = parted ? Math.min(MAX_APPENDS, Math.ceil(this.#waiting.length / 2)) : MAX_APPENDS;
    const taken = (name: string) => names.has(name) || held.has(name) || this.#isUnderWay(name);
    let bytes = 0;
    for (const waiting of this.#waiting) {
      const own = namesOf(waiting.append);
      const full = group.length >= most || bytes > MAX_BYTES;
      const waits = full || own.some(taken);
      (waits ? later : group).push(waiting);
      // Also those that wait keep their place in the order of their stream.
      for (const name of own) (waits ? held : names).add(name);
      if (!waits) for (const event of waiting.append.events) bytes += event.data.length;
    }
    this.#waiting = later;
    return { group, names };
  }

  #isUnderWay(name: string): boolean {
    for (const names of this.#underWay) if (names.has(name)) return true;
    return false;
  }

  async #write(group: Waiting[]): Promise<void> {
    let answer: GroupAnswer;
    try {
      answer = await this.#ask(group.map(({ append }) => append));
    } catch (cause) {
      if (group.length > 1 && isRefusal(cause)) return this.#writeApart(group);
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
    group.forEach(({ append, answer: settle }, at) => {
      const verdict = verdictOf(append, answer, at, takes);
      if (verdict.kind === 'appended') {
        written.push([append, at]);
        head = verdict.position;
      }
      settle(verdict);
    });
    if (written.length === 0) return;
    this.#head = head.toString();
    this.#appended(head, () => written.flatMap(([append, at]) => recorded(append, answer, at)));
  }

  async #ask(appends: readonly Append[]): Promise<GroupAnswer> {
    // An append without events has nothing that a unique key could prove.
    if (appends.some(({ events }) => events.length === 0)) return this.#askOfEach(appends);
    return (await this.#fit(appends)) ?? this.#askOfEach(appends);
  }

  /** All of them or none, which is known soonest; undefined when one of them may not. */
  async #fit(appends: readonly Append[]): Promise<GroupAnswer | undefined> {
    const values = [this.#head, ...encodeFitting(appends)];
    const { rows } = await this.#pool.query<{ head: number | null; at: number }>({ ...fitWith(values.length), values });
    const { head, at } = rows[0]!;
    return head === null ? undefined : allFit(appends, head, at);
  }

  async #askOfEach(appends: readonly Append[]): Promise<GroupAnswer> {
    const values = encodeGroup(appends);
    const { rows } = await this.#pool.query<{ answer: GroupAnswer }>({ ...appendWith(values.length), values });
    return rows[0]!.answer;
  }

  /** One append that the database refuses (a value that no column takes) must not fail its neighbours. */
  async #writeApart(group: Waiting[]): Promise<void> {
    for (const waiting of group) await this.#write([waiting]);
  }
}

/** A value that no column takes fails each time; a row that is there already (class 23) may be a race, and is looked at again. */
const failureOf = (cause: unknown): Error =>
  isRefusal(cause) && !String((cause as { code?: string }).code).startsWith('23')
    ? new AppendRefused('the event store does not take these values', { cause })
    : new EventStoreUnavailable('the append could not be confirmed', { cause });

function allFit(appends: readonly Append[], head: number, at: number): GroupAnswer {
  let before = head;
  const base = appends.map(({ events }) => (before += events.length) - events.length);
  return {
    ok: appends.map(() => true),
    actual: appends.map(({ expectedRevision }) => Number(expectedRevision)),
    base,
    at,
    lost: [],
    holders: [],
  };
}

const claimName = ({ tenantId, kind, digest }: ClaimKey) => `${tenantId}/${kind}/${digest}`;
const namesOf = ({ stream, claim, release }: Append) =>
  claim.length + release.length === 0 ? [stream] : [stream, ...claim.map(claimName), ...release.map(claimName)];

function verdictOf(
  { events }: Append,
  { ok, actual, base, at, lost, holders }: GroupAnswer,
  index: number,
  takes: readonly ClaimKey[],
): AppendResult {
  const revision = BigInt(actual[index]!);
  if (ok[index]) {
    const size = BigInt(events.length);
    return { kind: 'appended', revision: revision + size, position: BigInt(base[index]!) + size, recordedAt: at };
  }
  const which = lost[index];
  if (which === null || which === undefined) return { kind: 'wrongRevision', actual: revision };
  const { tenantId, kind, digest } = takes[which - 1]!;
  return { kind: 'claimed', claim: { tenantId, kind, digest }, holder: holders[index]! };
}

function recorded(
  { tenantId, stream, events }: Append,
  { actual, base, at }: GroupAnswer,
  index: number,
): StoredEvent[] {
  const revision = BigInt(actual[index]!);
  const position = BigInt(base[index]!);
  return events.map((event, offset) => ({
    tenantId,
    id: event.id,
    type: event.type,
    version: event.version,
    stream,
    revision: revision + BigInt(offset + 1),
    position: position + BigInt(offset + 1),
    recordedAt: at,
    metadata: event.metadata,
    data: JSON.parse(event.data) as unknown,
  }));
}
