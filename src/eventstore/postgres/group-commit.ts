import type pg from 'pg';
import { isRefusal } from '../../database/refusal.ts';
import { EventStoreUnavailable, type Append, type ClaimKey, type StoredEvent, type Verdict } from '../port.ts';
import { encodeGroup } from './group-encoding.ts';

interface Waiting {
  readonly append: Append;
  readonly answer: (verdict: Verdict) => void;
  readonly fail: (error: Error) => void;
}

interface GroupAnswer {
  ok: boolean[];
  actual: number[];
  base: number[];
  at: number;
  blocked: { n: number; tenant: ClaimKey['tenantId']; kind: string; digest: string; holder: string }[] | null;
}

const APPEND = 'select append_events($1::json, $2::json, $3::json, $4::json) as answer';
const MOST_APPENDS = 512;
const MOST_BYTES = 4 * 1024 * 1024;

/**
 * Appends that arrive while a group is being written wait and become the next group: one transaction, one flush to disk,
 * one notification for all of them, and each gets its own verdict. That is where the throughput comes from.
 */
export class GroupCommit {
  readonly #pool: pg.Pool;
  readonly #appended: (events: readonly StoredEvent[]) => void;
  #waiting: Waiting[] = [];
  #busy = false;
  #idle: (() => void)[] = [];

  constructor(pool: pg.Pool, appended: (events: readonly StoredEvent[]) => void) {
    this.#pool = pool;
    this.#appended = appended;
  }

  append(append: Append): Promise<Verdict> {
    return new Promise((answer, fail) => {
      this.#waiting.push({ append, answer, fail });
      if (!this.#busy) {
        this.#busy = true;
        // Callers that were answered together come back together: let all of them in before the next group leaves.
        setImmediate(() => void this.#writeGroups());
      }
    });
  }

  /** Resolves when everything that was handed in has its verdict. */
  async drain(): Promise<void> {
    if (this.#busy) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  async #writeGroups(): Promise<void> {
    while (this.#waiting.length > 0) {
      await this.#write(this.#nextGroup());
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#busy = false;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** A stream or a claim may stand in a group only once: its second mention waits, so that it meets the first's outcome. */
  #nextGroup(): Waiting[] {
    const group: Waiting[] = [];
    const later: Waiting[] = [];
    const named = new Set<string>();
    let bytes = 0;
    for (const waiting of this.#waiting) {
      const names = namesOf(waiting.append);
      const full = group.length >= MOST_APPENDS || bytes > MOST_BYTES;
      if (full || names.some((name) => named.has(name))) {
        later.push(waiting);
      } else {
        group.push(waiting);
        for (const event of waiting.append.events) bytes += event.data.length;
      }
      // Also those that wait keep their place in the order of their stream.
      for (const name of names) named.add(name);
    }
    this.#waiting = later;
    return group;
  }

  async #write(group: Waiting[]): Promise<void> {
    let answer: GroupAnswer;
    try {
      const values = encodeGroup(group.map((waiting) => waiting.append));
      const { rows } = await this.#pool.query<{ answer: GroupAnswer }>({ name: 'append-events', text: APPEND, values });
      answer = rows[0]!.answer;
    } catch (cause) {
      if (group.length > 1 && isRefusal(cause)) return this.#writeApart(group);
      const error = new EventStoreUnavailable('the append could not be confirmed', { cause });
      for (const waiting of group) waiting.fail(error);
      return;
    }
    const written: StoredEvent[] = [];
    group.forEach(({ append, answer: settle }, at) => {
      const verdict = verdictOf(append, answer, at);
      if (verdict.kind === 'appended') written.push(...recorded(append, answer, at));
      settle(verdict);
    });
    if (written.length > 0) this.#appended(written);
  }

  /** One append that the database refuses (a value that no column takes) must not fail its neighbours. */
  async #writeApart(group: Waiting[]): Promise<void> {
    for (const waiting of group) await this.#write([waiting]);
  }
}

const claimName = ({ tenantId, kind, digest }: ClaimKey) => `${tenantId}/${kind}/${digest}`;
const namesOf = ({ stream, take, release }: Append) =>
  take.length + release.length === 0 ? [stream] : [stream, ...take.map(claimName), ...release.map(claimName)];

function verdictOf({ events }: Append, { ok, actual, base, at, blocked }: GroupAnswer, index: number): Verdict {
  const revision = BigInt(actual[index]!);
  if (ok[index]) {
    const size = BigInt(events.length);
    return { kind: 'appended', revision: revision + size, position: BigInt(base[index]!) + size, recordedAt: at };
  }
  const lost = blocked?.find(({ n }) => n === index + 1);
  return lost
    ? { kind: 'claimed', claim: { tenantId: lost.tenant, kind: lost.kind, digest: lost.digest }, holder: lost.holder }
    : { kind: 'wrongRevision', actual: revision };
}

function recorded({ tenantId, stream, events }: Append, { actual, base, at }: GroupAnswer, index: number): StoredEvent[] {
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
