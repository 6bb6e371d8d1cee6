import { describe, expect, it } from 'vitest';
import type { EventMetadata } from '../../../src/platform/kernel/event.ts';
import type { Subject } from '../event-store.contract.ts';
import { idsOf, mustAppend, newAppend, newEvent, newEvents, newStream, newTenant, plain } from './sample.ts';

export function describeReading(subject: Subject): void {
  describe('reading a stream', () => {
    it('finds nothing in a stream that does not exist', async () => {
      const stream = newStream(newTenant());
      expect(await subject.store.readStream(stream)).toEqual([]);
      expect(await subject.store.readStreamTail(stream, 3)).toEqual([]);
    });

    it('starts at the given revision and ends after the given number', async () => {
      const { store } = subject;
      const append = newAppend(newTenant(), { events: newEvents(5) });
      await mustAppend(store, append);
      const ids = idsOf(append.events);
      expect(idsOf(await store.readStream(append.stream, { from: 2n }))).toEqual(ids.slice(2));
      expect(idsOf(await store.readStream(append.stream, { from: 1n, limit: 2 }))).toEqual(ids.slice(1, 3));
      expect(await store.readStream(append.stream, { from: 5n })).toEqual([]);
    });

    it('reads many streams together, each from its revision, in the order of the request', async () => {
      const { store } = subject;
      const appends = [
        newAppend(newTenant(), { events: newEvents(3) }),
        newAppend(newTenant(), { events: newEvents(2) }),
      ];
      for (const append of appends) await mustAppend(store, append);
      const [first, second] = appends as [(typeof appends)[0], (typeof appends)[0]];
      const read = await store.readStreams([
        { stream: second.stream, from: 0n },
        { stream: newStream(newTenant()), from: 0n },
        { stream: first.stream, from: 1n },
        { stream: first.stream.toUpperCase(), from: 0n },
      ]);
      expect(read.map(idsOf)).toEqual([idsOf(second.events), [], idsOf(first.events).slice(1), []]);
      expect(await store.readStreams([])).toEqual([]);
    });

    it('returns the newest events of a stream, oldest first', async () => {
      const { store } = subject;
      const append = newAppend(newTenant(), { events: newEvents(5) });
      await mustAppend(store, append);
      const ids = idsOf(append.events);
      expect(idsOf(await store.readStreamTail(append.stream, 2))).toEqual(ids.slice(3));
      expect(idsOf(await store.readStreamTail(append.stream, 50))).toEqual(ids);
    });

    it('keeps streams apart whose names start alike', async () => {
      const { store } = subject;
      const tenantId = newTenant();
      const stream = newStream(tenantId);
      const longer = newAppend(tenantId, { stream: `${stream}.more` });
      await mustAppend(store, longer);
      expect(await store.readStream(stream)).toEqual([]);
      expect(idsOf(await store.readStream(longer.stream))).toEqual(idsOf(longer.events));
    });

    it('returns tenant, type, version, metadata and data as they were written', async () => {
      const { store } = subject;
      const tenantId = newTenant();
      const data = {
        text: 'ümläut “quotes” \\ / \u{1F469}\u{1F3FD}‍\u{1F680} עברית\n\ttab \u0001',
        nested: [{ empty: {}, list: [], nothing: null, yes: true }, -0.5, 1e21, 9007199254740991],
        "it's": { $type: 'not ours', ключ: '値' },
      };
      const metadata: EventMetadata = {
        actor: { kind: 'device', id: null, userAgent: 'Обозреватель/1 “β”' },
        correlationId: 'correlation',
        causationId: 'causation',
        commandId: 'command',
      };
      const event = newEvent({ type: 'ThingHappened', version: 7, data: JSON.stringify(data), metadata });
      const append = newAppend(tenantId, { events: [event] });
      const before = await store.head();
      const { position } = await mustAppend(store, append);
      const expected = {
        tenantId,
        id: event.id,
        type: 'ThingHappened',
        version: 7,
        stream: append.stream,
        revision: 0n,
        position,
        recordedAt: expect.any(Number),
        data,
        metadata,
      };
      expect(plain(await store.readStream(append.stream))).toEqual([expected]);
      const fed = (await store.readAll(before, 100)).events;
      expect(plain(fed.filter(({ id }) => id === event.id))).toEqual([expected]);
    });

    it('keeps an event of half a megabyte intact', async () => {
      const { store } = subject;
      const text = '0123456789abcdeß'.repeat(32 * 1024);
      const append = newAppend(newTenant(), { events: [newEvent({ data: JSON.stringify({ text }) })] });
      await mustAppend(store, append);
      const [stored] = await store.readStream(append.stream);
      expect((stored!.data as { text: string }).text === text).toBe(true);
    });

    it('still returns events within the retention of their stream', async () => {
      const { store } = subject;
      const append = newAppend(newTenant());
      await mustAppend(store, append);
      await store.setRetention(append.stream, 30);
      await store.setRetention(append.stream, 7);
      expect(idsOf(await store.readStream(append.stream))).toEqual(idsOf(append.events));
    });
  });
}
