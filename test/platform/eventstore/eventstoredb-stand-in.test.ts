import { randomUUID } from 'node:crypto';
import { EventStoreDBClient, jsonEvent, type AllStreamResolvedEvent } from '@eventstore/db-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EventStoreDbEventStore } from '../../../src/platform/eventstore/eventstoredb/eventstoredb-event-store.ts';
import { idsOf, mustAppend, newAppend, newEvents, newTenant } from '../../contracts/event-store/sample.ts';
import { ANY } from '../../fixtures/eventstoredb/event-log.ts';
import { startStandIn, type StandIn } from '../../fixtures/eventstoredb/stand-in.ts';

const event = (type = 'OrderPlaced', data: object = { order: 1 }) => jsonEvent({ type, data: { ...data } });

/** The rules that the other tests rely on, checked against the stand-in with the original client. */
describe('the stand-in for EventStoreDB', () => {
  let node: StandIn;
  let client: EventStoreDBClient;
  beforeEach(async () => {
    node = await startStandIn();
    client = EventStoreDBClient.connectionString(node.connectionString);
  });
  afterEach(async () => {
    await client.dispose();
    await node.stop();
  });

  it.each([true, false])(
    'accepts appends by the batch call (%s) with every kind of expected revision',
    async (batchAppend) => {
      await node.stop();
      node = await startStandIn({ batchAppend });
      client = EventStoreDBClient.connectionString(node.connectionString);
      const append = (expectedRevision: 'any' | 'no_stream' | 'stream_exists' | bigint, events = [event()]) =>
        client.appendToStream('order-1', events, { expectedRevision });
      await expect(append('stream_exists')).rejects.toMatchObject({
        type: 'wrong-expected-version',
        actualVersion: 'no_stream',
      });
      const two = [event(), event()];
      const created = await append('no_stream', two);
      expect(created).toMatchObject({
        success: true,
        nextExpectedRevision: 1n,
        position: { commit: node.log.all.at(-1)!.position },
      });
      expect(await append('no_stream', two)).toEqual(created);
      await expect(append('no_stream')).rejects.toMatchObject({
        type: 'wrong-expected-version',
        actualVersion: 1n,
        expectedVersion: 'no_stream',
      });
      await expect(append(7n)).rejects.toMatchObject({
        type: 'wrong-expected-version',
        actualVersion: 1n,
        expectedVersion: 7n,
      });
      expect(await append(1n)).toMatchObject({ nextExpectedRevision: 2n });
      expect(await append('any')).toMatchObject({ nextExpectedRevision: 3n });
      expect(await append('stream_exists')).toMatchObject({ nextExpectedRevision: 4n });
      const large = event('OrderPlaced', { text: 'x'.repeat(1024 * 1024) });
      await expect(append(4n, [large])).rejects.toMatchObject({
        type: 'maximum-append-size-exceeded',
        maxAppendSize: 1024 * 1024,
      });
      expect(node.calls.includes('batchAppend')).toBe(batchAppend);
    },
  );

  it('forgets after a restart the events that were sent without a revision, and not those with one', async () => {
    const repeated = [event()];
    await client.appendToStream('order-1', repeated, { expectedRevision: 'any' });
    expect(await client.appendToStream('order-1', repeated, { expectedRevision: 'any' })).toMatchObject({
      nextExpectedRevision: 0n,
    });
    await client.dispose();
    await node.restart();
    client = EventStoreDBClient.connectionString(node.connectionString);
    expect(await client.appendToStream('order-1', repeated, { expectedRevision: 'no_stream' })).toMatchObject({
      nextExpectedRevision: 0n,
    });
    expect(await client.appendToStream('order-1', repeated, { expectedRevision: 'any' })).toMatchObject({
      nextExpectedRevision: 1n,
    });
  });

  it('reads the log only from an existing position, from the beginning, and after the newest event', async () => {
    for (let at = 0; at < 4; at += 1) await client.appendToStream('order-1', event(), { expectedRevision: 'any' });
    const positions = node.log.all.map(({ position }) => position);
    const [second, last] = [positions.at(-3)!, positions.at(-1)!];
    const read = async (place: bigint, direction: 'forwards' | 'backwards' = 'forwards') => {
      const found: bigint[] = [];
      for await (const { event: one } of client.readAll({ direction, fromPosition: { commit: place, prepare: place } }))
        found.push(one!.position!.commit);
      return found;
    };
    const follow = (place: bigint) =>
      new Promise<unknown>((resolve) => {
        const subscription = client.subscribeToAll({ fromPosition: { commit: place, prepare: place } });
        subscription.on(
          'data',
          ({ event: one }: AllStreamResolvedEvent) =>
            void subscription.unsubscribe().then(() => resolve(one!.position!.commit)),
        );
        subscription.on('error', resolve);
      });
    expect(await read(second)).toEqual(positions.slice(-3));
    expect(await read(second, 'backwards')).toEqual(positions.slice(0, -3).reverse());
    expect(await read(0n)).toEqual(positions);
    expect(await read(last + 1n)).toEqual([]);
    expect(await follow(second)).toBe(positions.at(-2));
    for (const nowhere of [second - 1n, second + 1n]) {
      await expect(read(nowhere)).rejects.toMatchObject({
        code: 2,
        message: expect.stringContaining('Unexpected ReadAllResult') as string,
      });
      await expect(read(nowhere, 'backwards')).rejects.toMatchObject({ code: 2 });
      expect(await follow(nowhere)).toMatchObject({
        code: 2,
        message: expect.stringContaining('Exception was thrown by handler') as string,
      });
    }
    await expect(read(last + 1n, 'backwards')).rejects.toMatchObject({ code: 2 });
  });

  it('sends subscribers their events, checkpoints for the rest, and resumes after a position', async () => {
    for (let at = 0; at < 40; at += 1)
      await client.appendToStream(`order-${at % 2}`, event(), { expectedRevision: 'any' });
    const checkpoints: bigint[] = [];
    const subscription = client.subscribeToAll({
      fromPosition: { commit: node.log.all[1]!.position, prepare: node.log.all[1]!.position },
      filter: {
        filterOn: 'streamName',
        prefixes: ['order-1'],
        checkpointInterval: 1,
        checkpointReached: (_, { commit }) => void checkpoints.push(commit),
      },
    });
    const seen: AllStreamResolvedEvent[] = [];
    subscription.on('error', () => undefined);
    subscription.on('data', (resolved) => seen.push(resolved));
    await expect.poll(() => checkpoints.length, { timeout: 20_000 }).toBe(2);
    expect(seen.map(({ event: told }) => told!.revision)).toEqual(Array.from({ length: 20 }, (_, at) => BigInt(at)));
    expect(checkpoints).toEqual([node.log.all[33]!.position, node.log.end]);
    await client.appendToStream('order-1', event('Live'), { expectedRevision: 'any' });
    await expect.poll(() => seen.at(-1)!.event!.type, { timeout: 20_000 }).toBe('Live');
    await subscription.unsubscribe();
  });

  it('follows links as long as their targets exist', async () => {
    await client.appendToStream('order-1', [event('First'), event('Second')], { expectedRevision: 'no_stream' });
    const link = (to: string) => ({
      id: randomUUID(),
      type: '$>',
      json: false,
      data: Buffer.from(to),
      metadata: Buffer.alloc(0),
    });
    node.log.append('all-orders', ANY, [link('1@order-1'), link('9@order-1')]);
    const types: (string | undefined)[] = [];
    for await (const { event: target } of client.readStream('all-orders', { resolveLinkTos: true }))
      types.push(target?.type);
    expect(types).toEqual(['Second', undefined]);
  });

  it('restores a deleted stream with the next event, and a tombstoned one never', async () => {
    const store = new EventStoreDbEventStore(node.connectionString);
    const append = newAppend(newTenant(), { events: newEvents(2) });
    await mustAppend(store, append);
    await client.deleteStream(append.stream, { expectedRevision: 1n });
    expect(await store.readStream(append.stream)).toEqual([]);
    await expect(store.setRetention(append.stream, 7)).rejects.toThrow('deleted');
    const next = newEvents(1);
    expect(await mustAppend(store, { ...append, events: next })).toMatchObject({ revision: 2n });
    expect(idsOf(await store.readStream(append.stream))).toEqual(idsOf(next));
    await client.tombstoneStream(append.stream);
    await expect(store.readStream(append.stream)).rejects.toMatchObject({ type: 'stream-deleted' });
    await expect(store.append({ ...append, expectedRevision: 2n, events: newEvents(1) })).rejects.toMatchObject({
      type: 'stream-deleted',
    });
    await store.close();
  });
});
