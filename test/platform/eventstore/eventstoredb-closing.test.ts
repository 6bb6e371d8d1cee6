import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EventStoreDbEventStore } from '../../../src/platform/eventstore/eventstoredb/eventstoredb-event-store.ts';
import type { Position } from '../../../src/platform/kernel/event.ts';
import { mustAppend, newAppend, newEvents, newTenant } from '../../contracts/event-store/sample.ts';

const WRITERS = 12;
const PAGE = 3;

/** Reads while others write: calls have ended at the node before the reader takes the messages behind its page. */
describe('an EventStoreDB adapter that closes', () => {
  let node: ChildProcess;
  let url: string;
  beforeAll(async () => {
    node = fork(new URL('../../fixtures/eventstoredb/stand-in-process.ts', import.meta.url), {
      execArgv: ['--import', 'tsx'],
    });
    [url] = (await once(node, 'message')) as [string];
  });
  afterAll(async () => {
    node.disconnect();
    await once(node, 'exit');
  });

  it('is closed after pages that ended in the middle of what the node had sent', { timeout: 20_000 }, async () => {
    const store = new EventStoreDbEventStore(url);
    const tenantId = newTenant();
    let isWriting = true;
    const write = async () => {
      for (let append = 0; append < 5; append += 1)
        await mustAppend(store, newAppend(tenantId, { events: newEvents(2) }));
    };
    let read = 0;
    const follow = async (from: Position) => {
      for (let after = from; ;) {
        const wasWriting = isWriting;
        const { events, position } = await store.readAll(after, PAGE);
        read += events.length;
        if (!wasWriting && position === after) return;
        after = position;
      }
    };
    const following = follow(await store.head());
    await Promise.all(Array.from({ length: WRITERS }, write)).finally(() => (isWriting = false));
    await following;
    expect(read).toBe(WRITERS * 10);
    await store.close();
  });
});
