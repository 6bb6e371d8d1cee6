import { randomUUID } from 'node:crypto';
import { jsonEvent } from '@eventstore/db-client';
import { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { closeClient, openClient, type Client } from '../../../src/platform/eventstore/eventstoredb/client.ts';
import { serverSettings } from '../../../src/platform/eventstore/eventstoredb/connection-string.ts';
import { expectOnce, mustAppend, newAppend, newTenant } from '../../contracts/event-store/sample.ts';
import { callError, unavailable } from '../../fixtures/eventstoredb/faults.ts';
import { grpc } from '../../fixtures/eventstoredb/protocol.ts';
import { withNode } from '../../fixtures/eventstoredb/with-node.ts';

const PATIENTLY = { timeout: 20_000 };

interface Inner {
  getGRPCClient(service: typeof StreamsClient): Promise<object>;
  handleError(stub: object, error: Error): Promise<void>;
}

/** Unhandled errors end the process. */
describe('EventStoreDB adapter: unhandled errors of the client', () => {
  const { startNode, openStore } = withNode();
  const unheard: unknown[] = [];
  const hear = (error: unknown) => void unheard.push(error);
  const events = ['unhandledRejection', 'uncaughtException'] as const;
  let before: Map<string, ((...given: never[]) => void)[]>;
  // The test runner listens as well, and would fail the run: the test inspects them instead.
  beforeEach(() => {
    unheard.length = 0;
    before = new Map(events.map((event) => [event, process.listeners(event as 'exit') as never]));
    for (const event of events) process.removeAllListeners(event).on(event, hear);
  });
  afterEach(() => {
    for (const event of events) {
      process.removeAllListeners(event);
      for (const listener of before.get(event)!) process.on(event, listener as never);
    }
    expect(unheard).toEqual([]);
  });

  it('are avoided by a retry when a node does not lead and does not name the leader', async () => {
    const node = await startNode();
    const store = openStore(node);
    const append = newAppend(newTenant());
    let refusals = 4;
    node.faults = () =>
      (refusals -= 1) >= 0
        ? callError(grpc.status.NOT_FOUND, 'Leader info available', { exception: 'not-leader' })
        : undefined;
    await mustAppend(store, append);
    refusals = 2;
    await expectOnce(store, append);
    expect(refusals).toBeLessThan(0);
  });

  it('do not occur when a read meets an event that it cannot parse: it fails, and the next one succeeds', async () => {
    const node = await startNode();
    const store = openStore(node);
    const append = newAppend(newTenant());
    await mustAppend(store, append);
    node.onSend = (message) => message.getEvent()?.getEvent()?.clearStreamIdentifier();
    await expect(store.readStream(append.stream)).rejects.toThrow(/streamIdentifier/);
    delete node.onSend;
    await expectOnce(store, append);
  });

  it('do not occur on a channel that is opened after the close: no call starts', async () => {
    const node = await startNode();
    let release: (fault?: undefined) => void = () => undefined;
    const held = new Promise<undefined>((resolve) => (release = resolve));
    node.faults = (method) => (method === 'gossip' ? held : undefined);
    const store = openStore(`esdb://127.0.0.1:${node.port},localhost:${node.port}?tls=false&gossipTimeout=20`);
    const reading = store.head().then(
      () => 'read',
      () => 'given up',
    );
    await expect.poll(() => node.calls.length, PATIENTLY).toBeGreaterThan(1);
    await store.close();
    release();
    expect(await reading).toBe('given up');
    expect(node.calls.filter((method) => method !== 'gossip')).toEqual([]);
  });

  describe('whenever a channel is closed', () => {
    let client: Client;
    afterEach(() => closeClient(client));

    it.each(Array.from({ length: 12 }, (_, turns) => turns))(
      'settle an append that began %i ticks before',
      async (turns) => {
        const node = await startNode();
        client = openClient(serverSettings(node.connectionString), turns);
        const inner = client as unknown as Inner;
        const stub = await inner.getGRPCClient(StreamsClient);
        const appending = client
          .appendToStream(`order-${randomUUID()}`, jsonEvent({ type: 'OrderPlaced', data: {} }))
          .then(
            () => 'settled',
            () => 'settled',
          );
        for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
        await inner.handleError(stub, unavailable());
        expect(await appending).toBe('settled');
      },
    );
  });
});
