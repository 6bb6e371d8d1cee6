import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Position } from '../../../src/platform/kernel/event.ts';
import type { TenantId } from '../../../src/platform/kernel/ids.ts';
import type { EventStore, AppendNotification, StoredEvent } from '../../../src/platform/eventstore/port.ts';
import type { Subject } from '../event-store.contract.ts';
import { expectContiguous, expectRising } from './all-stream-pages.ts';
import { idsOf, mustAppend, newAppend, newEvents, newStream, newTenant } from './sample.ts';

const WRITERS = 12;

export function describeTailing(subject: Subject): void {
  describe('following the event log', () => {
    it('never shows a gap to readers while twelve writers append', async () => {
      const { store } = subject;
      const tenantId = newTenant();
      const before = await store.head();
      const written: string[] = [];
      const write = async (writer: number) => {
        const stream = newStream(tenantId, `writer${writer}`);
        for (let expectedRevision = -1n; expectedRevision < 9n;) {
          const events = newEvents(1 + Math.floor(Math.random() * 3));
          expectedRevision = (await mustAppend(store, newAppend(tenantId, { stream, expectedRevision, events })))
            .revision;
          written.push(...idsOf(events));
        }
      };
      let writing = true;
      const tail = async (limit: number) => {
        const seen: StoredEvent[] = [];
        for (let after = before, ended = false; !ended;) {
          const wasWriting = writing;
          const page = await store.readAll(after, limit);
          ended = !wasWriting && page.position === after;
          if (store.gapless) expectContiguous(after, page.events);
          seen.push(...page.events.filter((event) => event.tenantId === tenantId));
          if (page.position === after) await sleep(10);
          after = page.position;
        }
        return seen;
      };
      const writers = Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer))).finally(
        () => (writing = false),
      );
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

    it('wakes a waiting reader for appends of this process', async () => {
      const { store } = subject;
      const append = newAppend(newTenant());
      const tail = new WaitingTail(store, await store.head());
      const found = tail.find(append.events[0]!.id);
      await mustAppend(store, append);
      await found;
      tail.end();
    });

    it('wakes a waiting reader for appends of another process', async ({ skip }) => {
      if (!subject.reopen) return skip();
      const { store } = subject;
      const other = await subject.reopen();
      const tenantId = newTenant();
      const tail = new WaitingTail(store, await store.head());
      // A hint may be lost while the reader starts to listen; one of several gets through.
      const heard = new AbortController();
      const found = tail.findOfTenant(tenantId).then(() => heard.abort());
      while (!heard.signal.aborted) {
        await mustAppend(other, newAppend(tenantId));
        await sleep(20);
      }
      await found;
      tail.end();
    });
  });
}

/** Continues to read only when it is woken, never by itself. */
class WaitingTail {
  readonly #store: EventStore;
  readonly #hints: (AppendNotification | undefined)[] = [];
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
      const { events, position } = await this.#store.readAll(this.#after, 1000);
      if (events.some(wanted)) return;
      this.#after = position;
    }
  }
}
