import { describe, expect, it } from 'vitest';
import type { EventStore, AppendNotification } from '../../../src/platform/eventstore/port.ts';
import { mustAppend, newAppend, newTenant } from '../../contracts/event-store/sample.ts';
import { unavailable } from '../../fixtures/eventstoredb/faults.ts';
import type { StandIn } from '../../fixtures/eventstoredb/stand-in.ts';
import { withNode } from '../../fixtures/eventstoredb/with-node.ts';

const PATIENTLY = { timeout: 20_000 };

function listenTo(store: EventStore) {
  const hints: (AppendNotification | undefined)[] = [];
  return { hints, end: store.onGrowth((hint) => hints.push(hint)) };
}

const subscribed = (node: StandIn) => expect.poll(() => node.openReads.size, PATIENTLY).toBe(1);

describe('EventStoreDB adapter: growth hints', () => {
  const { startNode, openStore } = withNode();

  it('contain the position that another process has reached', async () => {
    const node = await startNode();
    const [store, other] = [openStore(node), openStore(node)];
    const { hints } = listenTo(store);
    await subscribed(node);
    const { position } = await mustAppend(other, newAppend(newTenant()));
    await expect.poll(() => hints.at(-1), PATIENTLY).toEqual({ head: position });
  });

  it('are not sent for claims and system events', async () => {
    const node = await startNode();
    const store = openStore(node);
    const { hints } = listenTo(store);
    await subscribed(node);
    const event = { ...node.log.all[0]!, id: crypto.randomUUID() };
    node.log.append('$stats-1', -2n, [event]);
    node.log.append('claim-1', -2n, [{ ...event, type: 'ClaimReserved' }]);
    const { position } = await mustAppend(openStore(node), newAppend(newTenant()));
    await expect.poll(() => hints.at(-1), PATIENTLY).toEqual({ head: position });
    expect(hints.filter((hint) => hint?.head !== undefined)).toEqual([{ head: position }]);
  });

  it('resume after the subscription was dropped by a restarting server', async () => {
    const node = await startNode();
    const warnings: string[] = [];
    const store = openStore(node, { warn: (message) => warnings.push(message) });
    const { hints } = listenTo(store);
    await subscribed(node);
    await node.restart();
    const missed = hints.length;
    await subscribed(node);
    // Events that were missed meanwhile are not announced one by one, but as a possible growth.
    await expect.poll(() => hints.length, PATIENTLY).toBeGreaterThan(missed);
    const { position } = await mustAppend(openStore(node), newAppend(newTenant()));
    await expect.poll(() => hints.at(-1), PATIENTLY).toEqual({ head: position });
    expect(warnings.length).toBeGreaterThan(0);
  });

  it('resume after any number of refusals', async () => {
    const node = await startNode();
    let refused = 0;
    node.faults = (method) => (method === 'read' && refused++ < 4 ? unavailable() : undefined);
    const { hints } = listenTo(openStore(node));
    await subscribed(node);
    const { position } = await mustAppend(openStore(node), newAppend(newTenant()));
    await expect.poll(() => hints.at(-1), PATIENTLY).toEqual({ head: position });
  });

  it('resume when the subscription is open but silent', async () => {
    const node = await startNode();
    const warnings: unknown[] = [];
    const store = openStore(node, { watchdogMs: 100, warn: (_, error) => warnings.push((error as Error).message) });
    const { hints } = listenTo(store);
    await subscribed(node);
    const append = newAppend(newTenant());
    // One event that is sent to the subscription gets lost; a read finds it.
    let lost = 0;
    node.onSend = (message) => (message.hasEvent() && lost++ === 0 ? 'drop' : undefined);
    node.log.append(append.stream, -1n, [
      {
        id: append.events[0]!.id,
        type: 'AccountRenamed',
        json: true,
        data: Buffer.from('{}'),
        metadata: Buffer.from(JSON.stringify({ ...append.events[0]!.metadata, tenantId: append.tenantId, version: 1 })),
      },
    ]);
    await expect.poll(() => warnings, PATIENTLY).toContain('the subscription missed an event');
    delete node.onSend;
    await subscribed(node);
    const { position } = await mustAppend(openStore(node), newAppend(newTenant()));
    await expect.poll(() => hints.at(-1), PATIENTLY).toEqual({ head: position });
  });

  it('end for listeners that unsubscribe, and the subscription ends with the last one', async () => {
    const node = await startNode();
    const store = openStore(node);
    const [one, two] = [listenTo(store), listenTo(store)];
    await subscribed(node);
    one.end();
    const heard = one.hints.length;
    const { position } = await mustAppend(store, newAppend(newTenant()));
    await expect.poll(() => two.hints.at(-1), PATIENTLY).toEqual({ head: position });
    expect(one.hints).toHaveLength(heard);
    two.end();
    await expect.poll(() => node.openReads.size, PATIENTLY).toBe(0);
    const again = listenTo(store);
    await subscribed(node);
    again.end();
  });
});
