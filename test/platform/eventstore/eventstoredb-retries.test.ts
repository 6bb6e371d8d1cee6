import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { expectOnce, idsOf, mustAppend, newAppend, newEvents, newTenant } from '../../contracts/event-store/sample.ts';
import { callError, cancelled, unavailable, type Fault } from '../../fixtures/eventstoredb/faults.ts';
import { grpc } from '../../fixtures/eventstoredb/protocol.ts';
import { withNode } from '../../fixtures/eventstoredb/with-node.ts';

/** The fault for the first calls of a kind, then none. */
const first = (count: number, fault: Fault) => {
  let left = count;
  return (method: string): Fault => (method === 'append' && left-- > 0 ? fault : undefined);
};

/** For peers that never respond: a call whose response comes late is repeated once more. */
const SHORT_CALLS = { callTimeoutMs: 300 };
const PATIENTLY = { timeout: 20_000 };

describe('EventStoreDB adapter: failing calls', () => {
  const { startNode, openStore } = withNode();

  it('are retried on a new connection without a response', async () => {
    const node = await startNode();
    node.faults = first(1, 'silence');
    const append = newAppend(newTenant());
    const store = openStore(node, SHORT_CALLS);
    await mustAppend(store, append);
    await expectOnce(store, append);
  });

  it.each<[string, Fault]>([
    ['unavailable', unavailable()],
    ['cancelled', cancelled()],
    ['internal', callError(grpc.status.INTERNAL, 'stream reset')],
    ['unknown', callError(grpc.status.UNKNOWN, 'Server Is Not Ready')],
    ['aborted', callError(grpc.status.ABORTED, 'Operation timed out')],
    ['exhausted', callError(grpc.status.RESOURCE_EXHAUSTED, 'Bandwidth exhausted')],
  ])('are retried when they end as %s', async (_, fault) => {
    const node = await startNode();
    node.faults = first(3, fault);
    const append = newAppend(newTenant());
    const store = openStore(node);
    await mustAppend(store, append);
    await expectOnce(store, append);
  });

  it('are not retried after a final refusal of the server', async () => {
    const node = await startNode();
    node.faults = (method) =>
      method === 'append' ? callError(grpc.status.PERMISSION_DENIED, 'no', { exception: 'access-denied' }) : undefined;
    await expect(openStore(node).append(newAppend(newTenant()))).rejects.toMatchObject({ type: 'access-denied' });
    expect(node.calls.filter((method) => method === 'append')).toHaveLength(1);
  });

  it.each<[string, Fault, boolean]>([
    ['an error, by a server that recognises the repetition', unavailable(), true],
    ['nothing at all, by a server that recognises the repetition', 'silence', true],
    ['an error, by a server that takes the repetition for a conflict', cancelled(), false],
  ])(
    'do not write twice when the reply to an append was lost and there came %s',
    async (_, fault, recognisesRepeats) => {
      const node = await startNode();
      node.log.recognisesRepeats = recognisesRepeats;
      node.lostReplies = first(1, fault);
      const store = openStore(node, SHORT_CALLS);
      const append = newAppend(newTenant(), { events: newEvents(3) });
      const verdict = await mustAppend(store, append);
      await expectOnce(store, append);
      const last = (await store.readStream(append.stream)).at(-1)!;
      expect(verdict).toEqual({ kind: 'appended', revision: 2n, position: last.position });
    },
  );

  it('count as appended when another writer has appended between the lost reply and the retry', async () => {
    const node = await startNode();
    const [store, other] = [openStore(node, SHORT_CALLS), openStore(node)];
    const append = newAppend(newTenant());
    const later = { ...append, expectedRevision: 0n, events: newEvents(1) };
    node.log.recognisesRepeats = false;
    node.lostReplies = first(1, 'silence');
    const verdict = store.append(append);
    await expect.poll(() => node.log.lastRevision(append.stream), PATIENTLY).toBe(0n);
    await mustAppend(other, later);
    expect(await verdict).toMatchObject({ kind: 'appended', revision: 0n });
    expect(idsOf(await store.readStream(append.stream))).toEqual(idsOf([...append.events, ...later.events]));
  });

  it.each([
    ['through the batch call', true, 256],
    ['call by call', false, 64],
  ])('keep a flood of appends in order %s', async (_, batchAppend, atMost) => {
    const node = await startNode({ batchAppend });
    const store = openStore(node);
    let [under, most] = [0, 0];
    node.faults = async (method) => {
      if (method !== 'append') return undefined;
      under += 1;
      most = Math.max(most, under);
      await sleep(1);
      under -= 1;
      return undefined;
    };
    const verdicts = await Promise.all(Array.from({ length: 400 }, () => store.append(newAppend(newTenant()))));
    expect(verdicts.every(({ kind }) => kind === 'appended')).toBe(true);
    expect(most).toBeLessThanOrEqual(atMost);
  });
});
