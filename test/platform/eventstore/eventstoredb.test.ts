import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { EventStoreDbEventStore } from '../../../src/platform/eventstore/eventstoredb/eventstoredb-event-store.ts';
import { describeEventStoreContract } from '../../contracts/event-store.contract.ts';
import { idsOf, mustAppend, newAppend, newEvents, newTenant } from '../../contracts/event-store/sample.ts';
import { ANY, EventLog, type Proposed } from '../../fixtures/eventstoredb/event-log.ts';
import { startRelay } from '../../fixtures/eventstoredb/relay.ts';
import { startStandIn } from '../../fixtures/eventstoredb/stand-in.ts';
import { withNode } from '../../fixtures/eventstoredb/with-node.ts';

describeEventStoreContract('EventStoreDB, through its client against the stand-in', async () => {
  const node = await startStandIn();
  const open = () => new EventStoreDbEventStore(node.connectionString, { timeoutMs: 15_000 });
  const store = open();
  return {
    store,
    reopen: async () => open(),
    close: async () => {
      await store.close();
      await node.stop();
    },
  };
});

const DAY_MS = 86_400_000;

const foreign = (over: Partial<Proposed> = {}): Proposed => ({
  id: randomUUID(),
  type: 'OrderPlaced',
  json: true,
  data: Buffer.from('{"order":1}'),
  metadata: Buffer.alloc(0),
  ...over,
});

describe('EventStoreDB adapter', () => {
  const { startNode, openStore } = withNode();

  it('appends through one batch call, to the leader, and reads nothing back', async () => {
    const node = await startNode();
    const headers: unknown[] = [];
    const store = openStore(node);
    await mustAppend(store, newAppend(newTenant()));
    node.faults = (method, metadata) => void headers.push([method, metadata.get('requires-leader')[0]]);
    await Promise.all([1, 2, 3].map(() => mustAppend(store, newAppend(newTenant()))));
    expect(headers).toEqual([
      ['append', 'true'],
      ['append', 'true'],
      ['append', 'true'],
    ]);
    expect(node.calls.filter((method) => method === 'batchAppend')).toHaveLength(1);
  });

  it("truncates an erased person's telemetry, and keeps what others reported", async () => {
    const node = await startNode();
    const store = openStore(node);
    const tenantId = newTenant();
    const [erased, other] = [randomUUID(), randomUUID()];
    const batch = (userId: string) =>
      newEvents(1).map((event) => ({
        ...event,
        type: 'TelemetryRecorded',
        data: JSON.stringify({ userId, observations: [] }),
      }));
    const append = async (stream: string, expectedRevision: bigint, userId: string) =>
      expect(
        await store.append({ tenantId, stream, expectedRevision, events: batch(userId), claim: [], release: [] }),
      ).toMatchObject({ kind: 'appended' });
    const [shared, own] = [`deviceDay-${tenantId}.a`, `deviceDay-${tenantId}.b`];
    await append(shared, -1n, erased);
    await append(shared, 0n, other);
    await append(own, -1n, erased);
    expect(await store.forgetTelemetryOf(tenantId, erased)).toBe(2);
    expect((await store.readStream(shared)).map(({ data }) => (data as { userId: string }).userId)).toEqual([other]);
    expect(await store.readStream(own)).toEqual([]);
    await append(shared, 1n, other);
  });

  it("stores ids where the server's tools look for them", async () => {
    const node = await startNode();
    const append = newAppend(newTenant());
    await mustAppend(openStore(node), append);
    const [{ metadata, version }] = append.events as [(typeof append.events)[0]];
    const written = node.log.all.at(-1)!;
    expect(written).toMatchObject({ json: true, stream: append.stream });
    expect(JSON.parse(written.metadata.toString())).toEqual({
      ...metadata,
      tenantId: append.tenantId,
      version,
      $correlationId: metadata.correlationId,
      $causationId: metadata.causationId,
    });
  });

  it('does not miss an event at the very beginning of the log', async () => {
    const node = await startNode({ log: new EventLog({ systemEvents: false }) });
    const store = openStore(node);
    expect(await store.head()).toBe(0n);
    expect(await store.readAll(0n, 10)).toEqual({ events: [], position: 0n });
    const append = newAppend(newTenant(), { events: newEvents(2) });
    await mustAppend(store, append);
    expect(node.log.all[0]!.position).toBe(0n);
    const { events } = await store.readAll(0n, 1);
    expect(idsOf(events)).toEqual([append.events[0]!.id]);
    expect(idsOf((await store.readAll(events[0]!.position, 10)).events)).toEqual([append.events[1]!.id]);
  });

  it('skips foreign events on the same server, and remembers its progress', async () => {
    const node = await startNode();
    const store = openStore(node);
    const before = await store.head();
    const [first, second] = [newAppend(newTenant()), newAppend(newTenant())];
    await mustAppend(store, first);
    const noise = [
      foreign(),
      foreign({ metadata: Buffer.from('{"$correlationId":"theirs"}') }),
      foreign({ json: false, metadata: Buffer.from('no JSON') }),
      foreign({ type: '$>', json: false, data: Buffer.from(`0@${first.stream}`) }),
    ];
    for (let at = 0; at < 400; at += 1)
      node.log.append(
        'order-1',
        ANY,
        noise.map((event) => ({ ...event, id: randomUUID() })),
      );
    await mustAppend(store, second);
    node.log.append('$stats-1', ANY, [foreign({ type: '$statsCollected' })]);
    const { events, position: newest } = await store.readAll(before, 10);
    expect(idsOf(events)).toEqual(idsOf([...first.events, ...second.events]));
    const { position } = await store.readAll(newest, 10);
    expect(position).toBe(await store.head());
    expect(await store.readAll(position, 10)).toEqual({ events: [], position });
  });

  describe('retention', () => {
    it('hides expired events from readers of the stream, who start at the first remaining event', async () => {
      const node = await startNode();
      const store = openStore(node);
      const append = newAppend(newTenant(), { events: newEvents(2) });
      const before = await store.head();
      const now = Date.now();
      node.log.now = () => now - 8 * DAY_MS;
      await mustAppend(store, append);
      node.log.now = () => now;
      const young = newEvents(1);
      await mustAppend(store, { ...append, expectedRevision: 1n, events: young });
      await store.setRetention(append.stream, 7);
      expect((await store.readStream(append.stream)).map(({ id, revision }) => [id, revision])).toEqual([
        [young[0]!.id, 2n],
      ]);
      expect(idsOf(await store.readStreamTail(append.stream, 5))).toEqual(idsOf(young));
      expect((await store.readAll(before, 10)).events).toHaveLength(3);
      node.log.scavenge();
      expect(idsOf((await store.readAll(before, 10)).events)).toEqual(idsOf(young));
      await mustAppend(store, { ...append, expectedRevision: 2n, events: newEvents(1) });
    });

    it('keeps the other metadata of a stream, also during a concurrent change', async () => {
      const node = await startNode();
      const store = openStore(node);
      const metadata = (data: object) => foreign({ type: '$metadata', data: Buffer.from(JSON.stringify(data)) });
      node.log.append('$$device-1', ANY, [metadata({ $acl: { $r: 'ops' }, note: 'ours' })]);
      let meddled = false;
      node.faults = (method, _, stream) => {
        if (method !== 'append' || meddled) return undefined;
        meddled = true;
        return void node.log.append(stream!, ANY, [metadata({ $acl: { $r: 'admins' }, note: 'ours' })]);
      };
      await store.setRetention('device-1', 30);
      expect(node.log.metadataOf('device-1')).toEqual({ $acl: { $r: 'admins' }, note: 'ours', $maxAge: 30 * 86_400 });
      const calls = node.calls.length;
      await store.setRetention('device-1', 30);
      expect(node.calls.slice(calls)).toEqual(['read']);
    });
  });

  it('leaves no call open after its reads', async () => {
    const node = await startNode();
    const store = openStore(node);
    const append = newAppend(newTenant(), { events: newEvents(40) });
    await mustAppend(store, append);
    for (let at = 0; at < 5; at += 1) {
      await store.readStream(append.stream, { limit: 3 });
      await store.readStreamTail(append.stream, 3);
      await store.readAll(0n, 3);
      await store.head();
    }
    await expect.poll(() => node.openReads.size, { timeout: 20_000 }).toBe(0);
  });

  it('cancels a read that it gives up, and keeps the connection while others get responses on it', async () => {
    const node = await startNode();
    const relay = await startRelay(node.port);
    const store = openStore(relay.connectionString, { callTimeoutMs: 1_500 });
    const append = newAppend(newTenant());
    await mustAppend(store, append);
    let silent = 1;
    node.faults = (_method, _metadata, stream) => (stream === append.stream && silent-- > 0 ? 'silence' : undefined);
    const answered = new AbortController();
    const read = store.readStream(append.stream).finally(() => answered.abort());
    while (!answered.signal.aborted) await store.head();
    expect(await read).toHaveLength(1);
    await expect.poll(() => node.openReads.size, { timeout: 20_000 }).toBe(0);
    // One for appends, one for reads.
    expect(relay.accepted).toBe(2);
    await store.close();
    await relay.close();
  });
});
