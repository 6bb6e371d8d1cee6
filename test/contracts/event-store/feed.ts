import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Position } from '../../../src/kernel/event.ts';
import type { TenantId } from '../../../src/kernel/ids.ts';
import type { EventStore, FeedFilter, FeedHint, StoredEvent } from '../../../src/eventstore/port.ts';
import type { Subject } from '../event-store.contract.ts';
import { idsOf, mustAppend, newAppend, newClaim, newEvent, newEvents, newStream, newTenant } from './sample.ts';

const WRITERS = 12;

export function describeFeed(subject: Subject): void {
  describe('the feed', () => {
    it('gives the events of all streams in the order in which they were committed, at rising positions', async () => {
      const { store } = subject;
      const tenantId = newTenant();
      const before = await store.head();
      const appends = Array.from({ length: 6 }, (_, at) => newAppend(tenantId, { events: newEvents(1 + (at % 3)) }));
      const positions: Position[] = [];
      for (const append of appends) positions.push((await mustAppend(store, append)).position);
      const fed = await readOn(store, before, tenantId);
      expect(idsOf(fed)).toEqual(appends.flatMap(({ events }) => idsOf(events)));
      expectRising(fed);
      const lastOfEach = appends.map(({ events }) => fed.find(({ id }) => id === events.at(-1)!.id)!.position);
      expect(lastOfEach).toEqual(positions);
    });

    it('shows an event as the stream shows it', async () => {
      const { store } = subject;
      const append = newAppend(newTenant(), { events: newEvents(2) });
      const before = await store.head();
      await mustAppend(store, append);
      expect(await readOn(store, before, append.tenantId)).toEqual(await store.readStream(append.stream));
    });

    it('sees exactly the rest when it resumes after any event', async () => {
      const { store } = subject;
      const tenantId = newTenant();
      const before = await store.head();
      for (let at = 0; at < 4; at += 1) await mustAppend(store, newAppend(tenantId, { events: newEvents(2) }));
      const fed = await readOn(store, before, tenantId);
      expect(fed).toHaveLength(8);
      for (const [at, { position }] of fed.entries()) {
        expect(idsOf(await readOn(store, position, tenantId))).toEqual(idsOf(fed.slice(at + 1)));
      }
    });

    it('sees the same in pages of any size', async () => {
      const { store } = subject;
      const tenantId = newTenant();
      const before = await store.head();
      await mustAppend(store, newAppend(tenantId, { events: newEvents(5), take: [newClaim(tenantId)] }));
      await mustAppend(store, newAppend(tenantId, { events: newEvents(2) }));
      const atOnce = idsOf(await readOn(store, before, tenantId));
      for (const limit of [1, 2, 3, 7]) expect(idsOf(await readOn(store, before, tenantId, limit))).toEqual(atOnce);
    });

    it('can be narrowed to some types of one tenant, at the positions of the whole', async () => {
      const { store } = subject;
      const tenantId = newTenant();
      const typed = (...types: string[]) => types.map((type) => newEvent({ type }));
      const before = await store.head();
      await mustAppend(store, newAppend(tenantId, { events: typed('A', 'B', 'C', 'A') }));
      await mustAppend(store, newAppend(newTenant(), { events: typed('A', 'B') }));
      await mustAppend(store, newAppend(tenantId, { events: typed('C', 'B') }));
      const whole = await readOn(store, before, tenantId);
      const filter = { tenantId, types: ['A', 'B'] };
      for (const limit of [1, 3, 100]) {
        const part = await readEverything(store, before, limit, filter);
        // A store may parse data for those who ask, and may have its text at hand.
        const plain = part.map((event) => ({ ...event, data: event.data, text: undefined }));
        expect(plain).toEqual(whole.filter(({ type }) => type !== 'C'));
      }
      expect(await readEverything(store, before, 10, { tenantId, types: [] })).toEqual([]);
    });

    it('ends at the head, and begins at the head for whoever wants only what is new', async () => {
      const { store } = subject;
      const append = newAppend(newTenant());
      const { position } = await mustAppend(store, append);
      const head = await store.head();
      expect(head).toBeGreaterThanOrEqual(position);
      const idle = await store.readFeed(head, 10);
      expect(idle.events.filter(({ tenantId }) => tenantId === append.tenantId)).toEqual([]);
      expect(idle.position).toBeGreaterThanOrEqual(head);
      await mustAppend(store, { ...append, expectedRevision: 0n, events: newEvents(1) });
      expect(await store.head()).toBeGreaterThan(head);
      expect(await readOn(store, head, append.tenantId)).toHaveLength(1);
    });

    it('shows nothing but events: no claims, no metadata of streams', async () => {
      const { store } = subject;
      const tenantId = newTenant();
      const claim = newClaim(tenantId);
      const before = await store.head();
      const first = newAppend(tenantId, { take: [claim] });
      await mustAppend(store, first);
      await store.setRetention(first.stream, 1);
      await mustAppend(store, { ...first, expectedRevision: 0n, events: newEvents(1), take: [], release: [claim] });
      const fed = await readEverything(store, before);
      expect(fed.filter(({ stream }) => stream.includes(tenantId))).toHaveLength(2);
      expect(fed.filter(({ type }) => type !== 'AccountRenamed')).toEqual([]);
    });

    it('never shows a gap to tails that read while twelve writers append', async () => {
      const { store } = subject;
      const tenantId = newTenant();
      const before = await store.head();
      const written: string[] = [];
      const write = async (writer: number) => {
        const stream = newStream(tenantId, `writer${writer}`);
        for (let expectedRevision = -1n; expectedRevision < 14n; ) {
          const events = newEvents(1 + Math.floor(Math.random() * 3));
          expectedRevision = (await mustAppend(store, newAppend(tenantId, { stream, expectedRevision, events }))).revision;
          written.push(...idsOf(events));
        }
      };
      let writing = true;
      const tail = async (limit: number) => {
        const seen: StoredEvent[] = [];
        for (let after = before, ended = false; !ended; ) {
          const wasWriting = writing;
          const page = await store.readFeed(after, limit);
          ended = !wasWriting && page.position === after;
          if (store.gapless) expectContiguous(after, page.events);
          seen.push(...page.events.filter((event) => event.tenantId === tenantId));
          if (page.position === after) await sleep(10);
          after = page.position;
        }
        return seen;
      };
      const writers = Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer))).finally(() => (writing = false));
      const [, ...tails] = await Promise.all([writers, tail(3), tail(50), tail(1000)]);
      for (const seen of tails) {
        expect(idsOf(seen).sort()).toEqual([...written].sort());
        expectRising(seen);
        for (const stream of new Set(seen.map((event) => event.stream))) {
          const revisions = seen.filter((event) => event.stream === stream).map(({ revision }) => revision);
          expect(revisions).toEqual(revisions.map((_, at) => BigInt(at)));
        }
      }
    });

    it('wakes a tail that waits, for what this process appends', async () => {
      const { store } = subject;
      const append = newAppend(newTenant());
      const tail = new WaitingTail(store, await store.head());
      const found = tail.find(append.events[0]!.id);
      await mustAppend(store, append);
      await found;
      tail.end();
    });

    it('wakes a tail that waits, for what another process appends', async ({ skip }) => {
      if (!subject.reopen) return skip();
      const { store } = subject;
      const other = await subject.reopen();
      const tenantId = newTenant();
      const tail = new WaitingTail(store, await store.head());
      // A hint may be lost while the tail is only just beginning to listen; one of several gets through.
      let heard = false;
      const found = tail.findOfTenant(tenantId).then(() => (heard = true));
      while (!heard) {
        await mustAppend(other, newAppend(tenantId));
        await sleep(20);
      }
      await found;
      tail.end();
    });
  });
}

/** Reads on only when it is woken, never by itself. */
class WaitingTail {
  readonly #store: EventStore;
  readonly #hints: (FeedHint | undefined)[] = [];
  #wake: () => void = () => undefined;
  readonly end: () => void;
  #after: Position;

  constructor(store: EventStore, after: Position) {
    this.#store = store;
    this.#after = after;
    this.end = store.onGrowth((hint) => {
      this.#hints.push(hint);
      this.#wake();
    });
  }

  find = (id: string) => this.#until((event) => event.id === id);
  findOfTenant = (tenantId: TenantId) => this.#until((event) => event.tenantId === tenantId);

  async #until(wanted: (event: StoredEvent) => boolean): Promise<void> {
    for (;;) {
      if (this.#hints.length === 0) await new Promise<void>((resolve) => (this.#wake = resolve));
      this.#hints.length = 0;
      const { events, position } = await this.#store.readFeed(this.#after, 1000);
      if (events.some(wanted)) return;
      this.#after = position;
    }
  }
}

async function readEverything(store: EventStore, from: Position, limit = 1000, filter?: FeedFilter): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  for (let after = from; ; ) {
    const page = await store.readFeed(after, limit, filter);
    expect(page.events.length).toBeLessThanOrEqual(limit);
    events.push(...page.events);
    if (page.position === after) return events;
    after = page.position;
  }
}

const readOn = async (store: EventStore, from: Position, tenant: TenantId, limit?: number): Promise<StoredEvent[]> =>
  (await readEverything(store, from, limit)).filter(({ tenantId }) => tenantId === tenant);

function expectRising(events: readonly StoredEvent[]): void {
  const positions = events.map(({ position }) => position);
  expect(positions).toEqual([...new Set(positions)].sort((a, b) => (a < b ? -1 : 1)));
}

function expectContiguous(after: Position, events: readonly StoredEvent[]): void {
  expect(events.map(({ position }) => position)).toEqual(events.map((_, at) => after + BigInt(at + 1)));
}
