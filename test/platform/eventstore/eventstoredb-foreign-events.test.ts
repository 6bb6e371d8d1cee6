import { randomUUID } from 'node:crypto';
import type { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { EventStore } from '../../../src/platform/eventstore/port.ts';
import { readEverything } from '../../contracts/event-store/all-stream-pages.ts';
import { idsOf, mustAppend, newAppend, newClaim, newEvents, newTenant } from '../../contracts/event-store/sample.ts';
import { ANY, type Proposed } from '../../fixtures/eventstoredb/event-log.ts';
import { noPlaceToRead, unavailable } from '../../fixtures/eventstoredb/faults.ts';
import type { StandIn } from '../../fixtures/eventstoredb/stand-in.ts';
import { withNode } from '../../fixtures/eventstoredb/with-node.ts';

const foreign = (): Proposed => ({
  id: randomUUID(),
  type: 'OrderPlaced',
  json: true,
  data: Buffer.from('{"order":1}'),
  metadata: Buffer.from('{"by":"shop"}'),
});

/** Another application writes to the same server, under similar names. */
function flood(node: StandIn, events: number): void {
  const names = ['order-1', `order-${randomUUID()}`, 'account-of.somebody', `${randomUUID()}.x`, '$stats-127.0.0.1'];
  for (let at = 0; at < events; at += 1) node.log.append(names[at % names.length]!, ANY, [foreign()]);
}

/** Counts what the node sends from now on. */
function meter(node: StandIn) {
  const sent = { events: 0, checkpoints: 0 };
  node.onSend = (message) => {
    if (message.hasEvent()) sent.events += 1;
    if (message.hasCheckpoint()) sent.checkpoints += 1;
  };
  return sent;
}

async function appendSome(store: EventStore, appends: number) {
  const tenantId = newTenant();
  const made = Array.from({ length: appends }, () =>
    newAppend(tenantId, { events: newEvents(2), claim: [newClaim(tenantId)] }),
  );
  for (const append of made) await mustAppend(store, append);
  return { tenantId, ids: made.flatMap(({ events }) => idsOf(events)) };
}

describe('EventStoreDB adapter beside other applications', () => {
  const { startNode, openStore } = withNode();

  it('reads neither their events nor its own claims from the server', async () => {
    const node = await startNode();
    const store = openStore(node);
    const before = await store.head();
    flood(node, 3_000);
    const mine = await appendSome(store, 5);
    flood(node, 3_000);
    const others = await appendSome(store, 5);
    // A process that has just started, with empty caches.
    const reader = openStore(node);
    const sent = meter(node);
    expect(idsOf(await readEverything(reader, before))).toEqual([...mine.ids, ...others.ids]);
    // Besides the events of the log, only the newest one, to know where the log ends.
    expect(sent.events).toBeLessThan(mine.ids.length + others.ids.length + 4);
    sent.events = 0;
    const part = await readEverything(reader, before, 1_000, { tenantId: mine.tenantId, types: ['AccountRenamed'] });
    expect(idsOf(part)).toEqual(mine.ids);
    expect(sent.events).toBeLessThan(mine.ids.length + 4);
  });

  it('moves past foreign events, so that nothing is read twice', async () => {
    const node = await startNode();
    const store = openStore(node);
    const { position: mine } = await mustAppend(store, newAppend(newTenant()));
    flood(node, 5_000);
    const reader = openStore(node);
    const page = await reader.readAll(mine, 100);
    expect(page.events).toEqual([]);
    expect(page.position).toBe(await reader.head());
    const sent = meter(node);
    expect(await reader.readAll(page.position, 100)).toEqual({ events: [], position: page.position });
    expect(sent).toEqual({ events: 1, checkpoints: 0 });
  });

  it('finds its own newest event at once behind a flood', async () => {
    const node = await startNode();
    const store = openStore(node);
    const { position: before } = await mustAppend(store, newAppend(newTenant()));
    flood(node, 20_000);
    const append = newAppend(newTenant());
    const { position } = await mustAppend(store, append);
    flood(node, 500);
    const calls = node.calls.length;
    const sent = meter(node);
    const page = await store.readAll(before, 100);
    expect(idsOf(page.events)).toEqual(idsOf(append.events));
    expect(page.position).toBeGreaterThanOrEqual(position);
    expect(node.calls.slice(calls)).toEqual(['read']);
    expect(sent.events).toBe(1);
  });

  it('keeps its progress when the connection breaks in the middle of them', async () => {
    const node = await startNode();
    const store = openStore(node);
    const { position: before } = await mustAppend(store, newAppend(newTenant()));
    flood(node, 20_000);
    const append = newAppend(newTenant());
    await mustAppend(openStore(node), append);
    let checkpoints = 0;
    node.onSend = (message) => {
      if (!message.hasCheckpoint()) return undefined;
      checkpoints += 1;
      if (checkpoints === 3) for (const call of node.openReads as Set<EventEmitter>) call.emit('error', unavailable());
      return checkpoints >= 3 ? 'drop' : undefined;
    };
    const page = await openStore(node).readAll(before, 100);
    delete node.onSend;
    expect(page).toMatchObject({ events: [], more: true });
    expect(page.position).toBeGreaterThan(before);
    expect(idsOf(await readEverything(store, page.position))).toEqual(idsOf(append.events));
  });

  it('does not skip an event that is written where a checkpoint already exists', async () => {
    const node = await startNode();
    const store = openStore(node);
    const { position: before } = await mustAppend(store, newAppend(newTenant()));
    flood(node, 100);
    const reader = openStore(node);
    const { position } = await reader.readAll(before, 100);
    expect(position).toBe(await reader.head());
    const append = newAppend(newTenant());
    await mustAppend(openStore(node), append);
    expect(idsOf((await reader.readAll(position, 100)).events)).toEqual(idsOf(append.events));
  });

  it('continues with the next event from a position inside a record', async () => {
    const node = await startNode();
    const store = openStore(node);
    const { ids } = await appendSome(store, 2);
    flood(node, 2_000);
    const append = newAppend(newTenant());
    const { position } = await mustAppend(store, append);
    const events = await readEverything(store, 0n);
    for (const reader of [store, openStore(node)]) {
      for (const [at, event] of events.entries()) {
        expect(idsOf(await readEverything(reader, event.position - 1n))).toEqual(idsOf(events.slice(at)));
        expect(idsOf(await readEverything(reader, event.position + 1n))).toEqual(idsOf(events.slice(at + 1)));
      }
      expect(await reader.eventAt(position - 1n)).toBeUndefined();
      expect(await reader.idAt(events[0]!.position + 1n)).toBeUndefined();
    }
    expect(idsOf(events)).toEqual([...ids, ...idsOf(append.events)]);
  });

  it('does not mistake a failing server for a log without that position', async () => {
    const node = await startNode();
    const store = openStore(node);
    const append = newAppend(newTenant(), { events: newEvents(2) });
    await mustAppend(store, append);
    const [first] = await readEverything(store, 0n);
    let ill = 3;
    node.faults = () => ((ill -= 1) >= 0 ? noPlaceToRead() : undefined);
    expect(await store.idAt(first!.position)).toBe(first!.id);
    ill = 3;
    expect(idsOf(await readEverything(openStore(node), first!.position))).toEqual(idsOf(append.events.slice(1)));
  });

  it('sweeps claims without reading foreign events', async () => {
    const node = await startNode();
    const store = openStore(node);
    flood(node, 2_000);
    const { ids } = await appendSome(store, 3);
    flood(node, 2_000);
    const sent = meter(node);
    expect(await store.sweepClaims()).toBe(0);
    // Two reads of three own events, two records of each claim, and the last sweep's progress.
    expect(sent.events).toBeLessThan(ids.length + 3 * 2 + 4);
  });

  it('refuses an event in a stream that no reader of the log would see', async () => {
    const store = openStore(await startNode());
    const tenantId = newTenant();
    for (const stream of ['account', `account-${randomUUID()}`, `claim-${tenantId}.email.00`, `2-${tenantId}.x`]) {
      await expect(store.append(newAppend(tenantId, { stream }))).rejects.toThrow('an event stream must be named');
    }
  });
});
