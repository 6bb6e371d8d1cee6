import { describe, expect, it } from 'vitest';
import { AppendRefused, EventStoreUnavailable } from '../../../src/platform/eventstore/port.ts';
import {
  expectOnce,
  mustAppend,
  newAppend,
  newEvent,
  newEvents,
  newTenant,
} from '../../contracts/event-store/sample.ts';
import { prose, status, type Status } from '../../fixtures/eventstoredb/batch-refusals.ts';
import { callError, unavailable, type Fault } from '../../fixtures/eventstoredb/faults.ts';
import { grpc, shared } from '../../fixtures/eventstoredb/protocol.ts';
import type { Method, StandIn } from '../../fixtures/eventstoredb/stand-in.ts';
import { withNode } from '../../fixtures/eventstoredb/with-node.ts';

/** For peers that never respond: a call whose response comes late is repeated once more. */
const SHORT_CALLS = { callTimeoutMs: 300 };
/** For calls that must fail. */
const IMPATIENT = { timeoutMs: 400, callTimeoutMs: 200 };
const PATIENTLY = { timeout: 20_000 };
const INTERNAL = 13;
const INVALID_ARGUMENT = 3;

const count = ({ calls }: StandIn, method: Method) => calls.filter((call) => call === method).length;

describe('EventStoreDB adapter: the batch call', () => {
  const { startNode, openStore } = withNode();

  describe('an error inside a response', () => {
    const firstOnly = (refusal: Status) => {
      let left = 1;
      return () => (left-- > 0 ? refusal : undefined);
    };

    it.each<[string, Status]>([
      ['a time-out of the server', status('Timeout', new shared.Timeout())],
      ['an error without a name', status('Unknown', new shared.Unknown())],
      ['a busy server', prose('Server Is Busy')],
      ['an error of the server itself', prose('Envelope callback expected something else', INTERNAL)],
    ])('is retried through the same call: %s', async (_, refusal) => {
      const node = await startNode();
      node.refusals = firstOnly(refusal);
      const store = openStore(node);
      const append = newAppend(newTenant());
      await mustAppend(store, append);
      await expectOnce(store, append);
      expect(count(node, 'append')).toBe(2);
      expect(count(node, 'batchAppend')).toBe(1);
    });

    it.each<[string, Status]>([
      ['it is not ready', prose('Server Is Not Ready')],
      ['it does not know the leader', prose('No leader info available in response')],
    ])('makes the adapter look for a node again when a node says that %s', async (_, refusal) => {
      const [stuck, leader] = [await startNode(), await startNode()];
      let isLost = false;
      const members = () => (isLost ? [leader] : [stuck]).map(({ port }) => ({ port }));
      Object.defineProperty(stuck, 'members', { get: members });
      Object.defineProperty(leader, 'members', { get: members });
      stuck.refusals = () => {
        isLost = true;
        return refusal;
      };
      const store = openStore(`esdb://127.0.0.1:${stuck.port},127.0.0.1:${leader.port}?tls=false&discoveryInterval=20`);
      await mustAppend(store, newAppend(newTenant()));
      expect(count(stuck, 'append')).toBe(1);
      expect(count(leader, 'append')).toBe(1);
    });

    it.each<[string, Status, object]>([
      ['stream-deleted', status('StreamDeleted', new shared.StreamDeleted()), { type: 'stream-deleted' }],
      ['access-denied', status('AccessDenied', new shared.AccessDenied()), { type: 'access-denied' }],
      [
        'the size of an append',
        status('MaximumAppendSizeExceeded', new shared.MaximumAppendSizeExceeded().setMaxappendsize(2_000)),
        { name: 'AppendRefused', message: expect.stringContaining('2000 bytes') },
      ],
      [
        'the size of an event, as servers from 25.1 on report it',
        status('MaximumAppendEventSizeExceeded', new shared.Empty()),
        { name: 'AppendRefused' },
      ],
      [
        'a bad request',
        status('BadRequest', new shared.BadRequest().setMessage('no such thing')),
        { name: 'AppendRefused', message: expect.stringContaining('no such thing') },
      ],
      [
        'an argument, in prose',
        prose('no such thing', INVALID_ARGUMENT),
        { name: 'AppendRefused', message: expect.stringContaining('no such thing') },
      ],
    ])('is final: %s', async (_, refusal, expected) => {
      const node = await startNode();
      const store = openStore(node);
      await mustAppend(store, newAppend(newTenant()));
      node.refusals = () => refusal;
      await expect(store.append(newAppend(newTenant()))).rejects.toMatchObject(expected);
      delete node.refusals;
      await mustAppend(store, newAppend(newTenant()));
      expect(count(node, 'append')).toBe(3);
      expect(count(node, 'batchAppend')).toBe(1);
    });
  });

  it.each([true, false])(
    'reports that the server accepts no append of that size (by the batch call: %s)',
    async (batchAppend) => {
      const node = await startNode({ batchAppend });
      node.log.maxAppendSize = 1_000;
      const append = newAppend(newTenant(), {
        events: [newEvent({ data: JSON.stringify({ text: 'x'.repeat(2_000) }) })],
      });
      await expect(openStore(node).append(append)).rejects.toBeInstanceOf(AppendRefused);
      expect(count(node, 'append')).toBe(1);
    },
  );

  it('gives up one append without a response, and leaves the others and the call unaffected', async () => {
    const node = await startNode();
    const store = openStore(node, SHORT_CALLS);
    const [lost, ...others] = Array.from({ length: 4 }, () => newAppend(newTenant()));
    let silent = 1;
    node.faults = (_method, _, stream) => (stream === lost!.stream && silent-- > 0 ? 'silence' : undefined);
    const verdict = store.append(lost!);
    let done = false;
    const kept = verdict.finally(() => (done = true));
    while (!done)
      for (const other of others)
        await mustAppend(store, { ...other, stream: `${other.stream}${Math.random()}`, events: newEvents(1) });
    expect(await kept).toMatchObject({ kind: 'appended' });
    await expectOnce(store, lost!);
    expect(count(node, 'batchAppend')).toBe(1);
  });

  it('determines the outcome of the appends that were pending when the call broke', async () => {
    const node = await startNode();
    const store = openStore(node);
    await mustAppend(store, newAppend(newTenant()));
    const appends = Array.from({ length: 8 }, () => newAppend(newTenant(), { events: newEvents(2) }));
    let replies = 0;
    // Half of them are written before the call breaks, and none is acknowledged.
    node.lostReplies = (_, stream) =>
      appends.some((append) => append.stream === stream) && replies < 4
        ? ++replies === 4
          ? unavailable()
          : 'silence'
        : undefined;
    const verdicts = await Promise.all(appends.map((append) => store.append(append)));
    for (const [at, append] of appends.entries()) {
      const [, last] = await store.readStream(append.stream);
      expect(verdicts[at]).toEqual({ kind: 'appended', revision: 1n, position: last!.position });
      await expectOnce(store, append);
    }
    expect(count(node, 'batchAppend')).toBe(2);
  });

  it.each<[string, boolean | 'listed']>([
    ['does not list it', false],
    ['lists it, and refuses it as unknown', 'listed'],
  ])('is not used on a server that %s', async (_, batchAppend) => {
    const node = await startNode({ batchAppend });
    const store = openStore(node);
    const append = newAppend(newTenant());
    await mustAppend(store, append);
    await mustAppend(store, newAppend(newTenant()));
    await expectOnce(store, append);
    expect(count(node, 'getSupportedMethods')).toBe(1);
    expect(count(node, 'batchAppend')).toBe(batchAppend ? 1 : 0);
    expect(node.log.lastRevision(append.stream)).toBe(0n);
  });

  it('is not used on a server that does not list its features', async () => {
    const node = await startNode({ batchAppend: false });
    node.faults = (method) =>
      method === 'getSupportedMethods' ? callError(grpc.status.UNIMPLEMENTED, 'Service is unimplemented.') : undefined;
    await mustAppend(openStore(node), newAppend(newTenant()));
    expect(count(node, 'batchAppend')).toBe(0);
  });

  it.each<[string, Fault]>([
    ['gets no response', 'silence'],
    ['fails while a node starts', callError(grpc.status.UNKNOWN, 'not yet')],
  ])('does not wait longer than for any other call for a list that %s', async (_, fault) => {
    const node = await startNode();
    let left = 2;
    node.faults = (method) => (method === 'getSupportedMethods' && left-- > 0 ? fault : undefined);
    const store = openStore(node, SHORT_CALLS);
    await mustAppend(store, newAppend(newTenant()));
    expect(count(node, 'batchAppend')).toBe(1);
  });

  it('ends with the deadline of the append when no server ever responds', async () => {
    const node = await startNode();
    node.faults = (method) => (method === 'append' ? 'silence' : undefined);
    const store = openStore(node, IMPATIENT);
    await expect(store.append(newAppend(newTenant()))).rejects.toBeInstanceOf(EventStoreUnavailable);
  });

  it('ignores a response that arrives after its append was given up', async () => {
    const node = await startNode();
    const store = openStore(node, SHORT_CALLS);
    const slow = newAppend(newTenant());
    let answer: (fault?: undefined) => void = () => undefined;
    const held = new Promise<undefined>((resolve) => (answer = resolve));
    let tries = 0;
    node.faults = (method, _, stream) =>
      method === 'append' && stream === slow.stream && ++tries === 1 ? held : undefined;
    const verdict = store.append(slow);
    let done = false;
    const kept = verdict.finally(() => (done = true));
    // Others get responses meanwhile, so the call is not given up.
    while (!done) await mustAppend(store, newAppend(newTenant()));
    expect(await kept).toMatchObject({ kind: 'appended', revision: 0n });
    answer();
    await mustAppend(store, newAppend(newTenant()));
    await expect.poll(() => count(node, 'batchAppend'), PATIENTLY).toBe(1);
    await expectOnce(store, slow);
  });

  it('is separate for each store: the failure of one leaves the appends of the other unaffected', async () => {
    const [node, other] = [await startNode(), await startNode()];
    const [store, failing] = [openStore(node), openStore(other)];
    let answer: (fault?: undefined) => void = () => undefined;
    const held = new Promise<undefined>((resolve) => (answer = resolve));
    node.faults = (method) => (method === 'append' ? held : undefined);
    const verdict = store.append(newAppend(newTenant()));
    await expect.poll(() => count(node, 'append'), PATIENTLY).toBe(1);
    let left = 1;
    other.faults = (method) => (method === 'append' && left-- > 0 ? unavailable() : undefined);
    await mustAppend(failing, newAppend(newTenant()));
    answer();
    expect(await verdict).toMatchObject({ kind: 'appended' });
    expect(count(node, 'append')).toBe(1);
  });
});
