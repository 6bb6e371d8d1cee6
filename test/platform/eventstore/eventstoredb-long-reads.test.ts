import type { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { Connection } from '../../../src/platform/eventstore/eventstoredb/connection.ts';
import { serverSettings } from '../../../src/platform/eventstore/eventstoredb/connection-string.ts';
import { LogScan } from '../../../src/platform/eventstore/eventstoredb/log-scan.ts';
import { EVENT_STREAMS } from '../../../src/platform/eventstore/eventstoredb/stream-names.ts';
import type { EventStore } from '../../../src/platform/eventstore/port.ts';
import { readEverything } from '../../contracts/event-store/all-stream-pages.ts';
import { idsOf, mustAppend, newAppend, newEvents, newTenant } from '../../contracts/event-store/sample.ts';
import { unavailable } from '../../fixtures/eventstoredb/faults.ts';
import type { StandIn } from '../../fixtures/eventstoredb/stand-in.ts';
import { withNode } from '../../fixtures/eventstoredb/with-node.ts';

const PAGE = 100;

async function appendMany(store: EventStore, appends: number): Promise<string[]> {
  const tenantId = newTenant();
  const made = Array.from({ length: appends }, () => newAppend(tenantId, { events: newEvents(50) }));
  for (const append of made) await mustAppend(store, append);
  return made.flatMap(({ events }) => idsOf(events));
}

/** The calls that the node has got since then. */
const callsSince = (node: StandIn, from: number) => node.calls.slice(from).filter((method) => method === 'read');

describe('EventStoreDB adapter reading a long history', () => {
  const { startNode, openStore } = withNode();

  it('continues one call from page to page', async () => {
    const node = await startNode();
    const writer = openStore(node);
    const before = await writer.head();
    const ids = await appendMany(writer, 20);
    const reader = openStore(node);
    const calls = node.calls.length;
    expect(idsOf(await readEverything(reader, before, PAGE))).toEqual(ids);
    // The end of the log, the history, and what is behind its last page.
    expect(callsSince(node, calls).length).toBeLessThanOrEqual(6);
  });

  it('returns what was written after a call had seen the end of the log', async () => {
    const node = await startNode();
    const writer = openStore(node);
    const before = await writer.head();
    const first = await appendMany(writer, 4);
    const reader = openStore(node);
    // The page ends with the last event, so the node has said by now that nothing follows.
    const page = await reader.readAll(before, first.length);
    expect(idsOf(page.events)).toEqual(first);
    await expect.poll(() => node.openReads.size).toBeGreaterThan(0);
    const second = await appendMany(writer, 3);
    expect(idsOf(await readEverything(reader, page.position, PAGE))).toEqual(second);
    const third = await appendMany(writer, 1);
    expect(idsOf(await readEverything(reader, before, PAGE))).toEqual([...first, ...second, ...third]);
  });

  it('gives each of several readers its own pages', async () => {
    const node = await startNode();
    const writer = openStore(node);
    const before = await writer.head();
    const ids = await appendMany(writer, 12);
    const reader = openStore(node);
    const readers = Array.from({ length: 7 }, (_, at) => readEverything(reader, before, PAGE + (at % 3)));
    for (const events of await Promise.all(readers)) expect(idsOf(events)).toEqual(ids);
  });

  it('opens another call when the paused one was lost', async () => {
    const node = await startNode();
    const writer = openStore(node);
    const before = await writer.head();
    const ids = await appendMany(writer, 6);
    const reader = openStore(node);
    const page = await reader.readAll(before, PAGE);
    for (const call of node.openReads as Set<EventEmitter>) call.emit('error', unavailable());
    const rest = await readEverything(reader, page.position, PAGE);
    expect([...idsOf(page.events), ...idsOf(rest)]).toEqual(ids);
  });

  it('leaves no call open when it closes', async () => {
    const node = await startNode();
    const writer = openStore(node);
    const before = await writer.head();
    await appendMany(writer, 6);
    const reader = openStore(node);
    await reader.readAll(before, PAGE);
    const open = node.openReads.size;
    await reader.close();
    await expect.poll(() => node.openReads.size).toBeLessThan(open);
  });

  it('closes after a read that had enough before it had taken all records that the node sent', async () => {
    const node = await startNode();
    const store = openStore(node);
    const after = await store.head();
    await mustAppend(store, newAppend(newTenant(), { events: newEvents(5) }));
    const connection = new Connection(serverSettings(node.connectionString));
    const once = { event: () => false, passed: () => false };
    const request = { after, streams: EVENT_STREAMS, timeoutMs: 10_000, records: 500 };
    const { end, scan } = await LogScan.start(connection, request, once);
    expect(end).toBe('stopped');
    // The node has ended the call; four records wait in its buffer for a reader who will not come.
    await expect.poll(() => node.openReads.size).toBe(0);
    scan.close();
    await connection.close();
  });
});
