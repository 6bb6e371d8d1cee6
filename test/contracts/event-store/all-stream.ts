import { describe, expect, it } from 'vitest';
import { pino } from 'pino';
import { openLog } from '../../../src/platform/eventstore/open-log.ts';
import type { Position } from '../../../src/platform/kernel/event.ts';
import type { Subject } from '../event-store.contract.ts';
import { expectRising, readEverything, readOn } from './all-stream-pages.ts';
import { idsOf, mustAppend, newAppend, newClaim, newEvent, newEvents, newTenant, plain } from './sample.ts';

export function describeAllStream(subject: Subject): void {
  describe('the event log', () => {
    it('returns the events of all streams in commit order, at increasing positions', async () => {
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

    it('returns an event as its stream does', async () => {
      const { store } = subject;
      const append = newAppend(newTenant(), { events: newEvents(2) });
      const before = await store.head();
      await mustAppend(store, append);
      expect(plain(await readOn(store, before, append.tenantId))).toEqual(plain(await store.readStream(append.stream)));
    });

    it('returns the same events to another thread that opens the address of the log, if the store offers one', async () => {
      const { store } = subject;
      if (!store.logAddress) return;
      const append = newAppend(newTenant(), { events: newEvents(3) });
      const before = await store.head();
      await mustAppend(store, append);
      const feed = openLog(structuredClone(store.logAddress), pino({ level: 'silent' }));
      const filter = { tenantId: append.tenantId, types: append.events.map(({ type }) => type) };
      const page = await feed.readAll(before, 10, filter).finally(() => feed.close());
      expect(plain(page.events)).toEqual(plain(await store.readStream(append.stream)));
    });

    it('returns exactly the rest after any event', async () => {
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

    it('returns the same in pages of any size', async () => {
      const { store } = subject;
      const tenantId = newTenant();
      const before = await store.head();
      await mustAppend(store, newAppend(tenantId, { events: newEvents(5), claim: [newClaim(tenantId)] }));
      await mustAppend(store, newAppend(tenantId, { events: newEvents(2) }));
      const atOnce = idsOf(await readOn(store, before, tenantId));
      for (const limit of [1, 2, 3, 7]) expect(idsOf(await readOn(store, before, tenantId, limit))).toEqual(atOnce);
    });

    it('can be filtered by types of one tenant, with unchanged positions', async () => {
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
        expect(plain(part)).toEqual(plain(whole.filter(({ type }) => type !== 'C')));
        // The text is for hashing: if a store has it, it equals the data.
        for (const { text, data } of part) if (text !== undefined) expect(JSON.parse(text)).toEqual(data);
      }
      expect(await readEverything(store, before, 10, { tenantId, types: [] })).toEqual([]);
    });

    it('ends at the head, and begins at the head for readers of new events only', async () => {
      const { store } = subject;
      const append = newAppend(newTenant());
      const { position } = await mustAppend(store, append);
      const head = await store.head();
      expect(head).toBeGreaterThanOrEqual(position);
      const idle = await store.readAll(head, 10);
      expect(idle.events.filter(({ tenantId }) => tenantId === append.tenantId)).toEqual([]);
      expect(idle.position).toBeGreaterThanOrEqual(head);
      await mustAppend(store, { ...append, expectedRevision: 0n, events: newEvents(1) });
      expect(await store.head()).toBeGreaterThan(head);
      expect(await readOn(store, head, append.tenantId)).toHaveLength(1);
    });

    it('continues with the event at the position after a stored one', async () => {
      const { store } = subject;
      const tenantId = newTenant();
      const before = await store.head();
      for (let at = 0; at < 3; at += 1) await mustAppend(store, newAppend(tenantId, { events: newEvents(2) }));
      const fed = await readOn(store, before, tenantId);
      const filter = { tenantId, types: ['AccountRenamed'] };
      for (const [at, { position }] of fed.entries()) {
        expect(idsOf(await readOn(store, position - 1n, tenantId))).toEqual(idsOf(fed.slice(at)));
        expect(idsOf(await readEverything(store, position - 1n, 2, filter))).toEqual(idsOf(fed.slice(at)));
      }
    });

    it('returns the event at one position, and none at a position without an event', async () => {
      const { store } = subject;
      const before = await store.head();
      const append = newAppend(newTenant(), { events: newEvents(3) });
      await mustAppend(store, append);
      const fed = await readOn(store, before, append.tenantId);
      for (const event of fed) expect(plain([(await store.eventAt(event.position))!])).toEqual(plain([event]));
      expect(await store.eventAt(0n)).toBeUndefined();
      expect(await store.eventAt((await store.head()) + 1_000_000n)).toBeUndefined();
    });

    it('contains only events: no claims, no metadata of streams', async () => {
      const { store } = subject;
      const tenantId = newTenant();
      const claim = newClaim(tenantId);
      const before = await store.head();
      const first = newAppend(tenantId, { claim: [claim] });
      await mustAppend(store, first);
      await store.setRetention(first.stream, 1);
      await mustAppend(store, { ...first, expectedRevision: 0n, events: newEvents(1), claim: [], release: [claim] });
      const fed = await readEverything(store, before);
      expect(fed.filter(({ stream }) => stream.includes(tenantId))).toHaveLength(2);
      expect(fed.filter(({ type }) => type !== 'AccountRenamed')).toEqual([]);
    });
  });
}
