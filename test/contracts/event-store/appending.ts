import { describe, expect, it } from 'vitest';
import type { NewEvent } from '../../../src/platform/eventstore/port.ts';
import type { Subject } from '../event-store.contract.ts';
import { idsOf, mustAppend, newAppend, newEvent, newEvents, newStream, newTenant } from './sample.ts';

const RACERS = 12;

export function describeAppending(subject: Subject): void {
  describe('appending', () => {
    it('numbers the events of a stream from 0 and returns the position of the last one', async () => {
      const { store } = subject;
      const append = newAppend(newTenant(), { events: newEvents(3) });
      const verdict = await mustAppend(store, append);
      const stored = await store.readStream(append.stream);
      expect(idsOf(stored)).toEqual(idsOf(append.events));
      expect(stored.map(({ revision }) => revision)).toEqual([0n, 1n, 2n]);
      const last = stored.at(-1)!;
      expect(verdict).toMatchObject({ kind: 'appended', revision: 2n, position: last.position });
      // Returned at once or not at all, but never a different time from the one that readers get.
      expect([undefined, last.recordedAt]).toContain(verdict.recordedAt);
    });

    it('writes nothing for a caller that has given up, and all for those beside it', async () => {
      const { store } = subject;
      const tenant = newTenant();
      const late = Array.from({ length: 3 }, () => ({ ...newAppend(tenant), until: performance.now() - 1 }));
      const others = [newAppend(tenant), { ...newAppend(tenant), until: performance.now() + 60_000 }];
      const [refused, appended] = await Promise.all([
        Promise.allSettled(late.map((append) => store.append(append))),
        Promise.all(others.map((append) => mustAppend(store, append))),
      ]);
      for (const outcome of refused)
        expect(outcome).toMatchObject({ status: 'rejected', reason: { name: 'EventStoreUnavailable' } });
      expect(appended.map(({ revision }) => revision)).toEqual([0n, 0n]);
      for (const { stream } of late) expect(await store.readStream(stream)).toEqual([]);
      for (const { stream } of others) expect(await store.readStream(stream)).toHaveLength(1);
    });

    it('continues after the revision that the caller knows', async () => {
      const { store } = subject;
      const first = newAppend(newTenant());
      await mustAppend(store, first);
      const verdict = await mustAppend(store, { ...first, expectedRevision: 0n, events: newEvents(2) });
      expect(verdict.revision).toBe(2n);
    });

    it.each([
      ['a new stream that exists', -1n, 1n],
      ['an older revision', 0n, 1n],
      ['a revision that is yet to come', 5n, 1n],
    ])('returns wrongRevision and writes nothing when it expects %s', async (_, expectedRevision, actual) => {
      const { store } = subject;
      const first = newAppend(newTenant(), { events: newEvents(2) });
      await mustAppend(store, first);
      const verdict = await store.append({ ...first, expectedRevision, events: newEvents(3) });
      expect(verdict).toEqual({ kind: 'wrongRevision', actual });
      expect(idsOf(await store.readStream(first.stream))).toEqual(idsOf(first.events));
    });

    it('returns wrongRevision -1 for a stream that was expected to exist', async () => {
      const append = newAppend(newTenant(), { expectedRevision: 0n });
      expect(await subject.store.append(append)).toEqual({ kind: 'wrongRevision', actual: -1n });
      expect(await subject.store.readStream(append.stream)).toEqual([]);
    });

    it('returns the first result for a second append of the same events, also when the stream has grown', async () => {
      const { store } = subject;
      const first = newAppend(newTenant(), { events: newEvents(2) });
      const verdict = await mustAppend(store, first);
      expect(await store.append(first)).toEqual(verdict);
      const second = { ...first, expectedRevision: 1n, events: newEvents(1) };
      await mustAppend(store, second);
      expect(await store.append(first)).toEqual(verdict);
      expect(idsOf(await store.readStream(first.stream))).toEqual(idsOf([...first.events, ...second.events]));
    });

    it('does not treat a part of the events as the same append', async () => {
      const { store } = subject;
      const first = newAppend(newTenant(), { events: newEvents(2) });
      await mustAppend(store, first);
      const other = { ...first, events: [first.events[0]!, newEvent()] };
      expect(await store.append(other)).toEqual({ kind: 'wrongRevision', actual: 1n });
      expect(idsOf(await store.readStream(first.stream))).toEqual(idsOf(first.events));
    });

    it('lets exactly one of twelve writers create a stream', async () => {
      const { store } = subject;
      const tenantId = newTenant();
      const stream = newStream(tenantId);
      const racers = Array.from({ length: RACERS }, () => newAppend(tenantId, { stream, events: newEvents(2) }));
      const verdicts = await Promise.all(racers.map((racer) => store.append(racer)));
      const winners = racers.filter((_, at) => verdicts[at]!.kind === 'appended');
      expect(winners).toHaveLength(1);
      expect(verdicts.filter(({ kind }) => kind === 'wrongRevision')).toHaveLength(RACERS - 1);
      expect(idsOf(await store.readStream(stream))).toEqual(idsOf(winners[0]!.events));
    });

    it('keeps a stream without gaps, and every append contiguous, with twelve concurrent writers', async () => {
      const { store } = subject;
      const tenantId = newTenant();
      const stream = newStream(tenantId);
      const appendUntilWon = async (events: NewEvent[]) => {
        for (let expectedRevision = -1n; ;) {
          const verdict = await store.append(newAppend(tenantId, { stream, expectedRevision, events }));
          if (verdict.kind === 'appended') return { events, revision: verdict.revision };
          expectedRevision = verdict.kind === 'wrongRevision' ? verdict.actual : expectedRevision;
        }
      };
      const won = (await Promise.all(Array.from({ length: RACERS }, () => appendUntilWon(newEvents(2))))).flat();
      const stored = await store.readStream(stream);
      expect(stored.map(({ revision }) => revision)).toEqual(Array.from({ length: 2 * RACERS }, (_, at) => BigInt(at)));
      for (const { events, revision } of won) {
        expect(idsOf(stored.slice(Number(revision) - 1, Number(revision) + 1))).toEqual(idsOf(events));
      }
    });
  });
}
