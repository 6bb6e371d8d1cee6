import { setTimeout as sleep } from 'node:timers/promises';
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { describe, expect, it } from 'vitest';
import { EventStoreUnavailable, type EventStore, type StoredEvent } from '../../../src/platform/eventstore/port.ts';
import { expectOnce, idsOf, mustAppend, newAppend, newEvents, newTenant } from '../../contracts/event-store/sample.ts';
import { FOLLOWER, LEADER } from '../../fixtures/eventstoredb/cluster-calls.ts';
import { unavailable } from '../../fixtures/eventstoredb/faults.ts';
import { startRelay } from '../../fixtures/eventstoredb/relay.ts';
import { withNode } from '../../fixtures/eventstoredb/with-node.ts';

/** For peers that never respond: a call whose response comes late is repeated once more. */
const SHORT_CALLS = { callTimeoutMs: 300 };
/** For calls that must fail. */
const IMPATIENT = { timeoutMs: 400, callTimeoutMs: 200 };
const PATIENTLY = { timeout: 20_000 };

const expectUnavailable = (work: Promise<unknown>) => expect(work).rejects.toBeInstanceOf(EventStoreUnavailable);

/** Sooner or later, however short the timeouts of the store are. */
async function expectToWork(store: EventStore): Promise<void> {
  const append = newAppend(newTenant());
  await expect.poll(() => store.append(append).catch(() => undefined), PATIENTLY).toMatchObject({ kind: 'appended' });
  const ids = () => store.readStream(append.stream).then(idsOf, () => undefined);
  await expect.poll(ids, PATIENTLY).toEqual(idsOf(append.events));
}

describe('EventStoreDB adapter: outages', () => {
  const { startNode, openStore } = withNode();

  it('appends once, though the server was killed and restarted meanwhile', async () => {
    const node = await startNode();
    const store = openStore(node);
    await mustAppend(store, newAppend(newTenant()));
    let revive: (fault?: undefined) => void = () => undefined;
    const dead = new Promise<undefined>((resolve) => (revive = resolve));
    // Delayed by the stand-in: some calls are lost with the server, and executed all the same a while later.
    node.faults = (method) => (method === 'append' ? dead : undefined);
    const appends = Array.from({ length: 8 }, () => newAppend(newTenant(), { events: newEvents(2) }));
    const verdicts = Promise.all(appends.map((append) => store.append(append)));
    await expect.poll(() => node.calls.filter((method) => method === 'append').length, PATIENTLY).toBe(9);
    await node.stop();
    await sleep(50);
    await node.start();
    revive();
    delete node.faults;
    for (const verdict of await verdicts) expect(verdict).toMatchObject({ kind: 'appended', revision: 1n });
    for (const append of appends) await expectOnce(store, append);
  });

  it('passes no end of a server that was replaced during the read by one with a shorter log', async () => {
    const node = await startNode();
    const store = openStore(node);
    const end = store.onGrowth(() => undefined);
    await expect.poll(() => node.openReads.size, PATIENTLY).toBe(1);
    const appended = await mustAppend(store, newAppend(newTenant()));
    const shorter = node.log.olderCopy(node.log.all.length);
    // Of another application: nothing announces them, so a read asks for the end first.
    for (let n = 0; n < 50; n += 1)
      node.log.append('strange-1', -2n, [{ ...node.log.all.at(-1)!, id: crypto.randomUUID() }]);
    const head = await store.head();
    expect(head).toBeGreaterThan(appended.position);
    let reads = 0;
    const { port } = node;
    node.faults = async (method) => {
      if (method !== 'read' || (reads += 1) !== 2) return undefined;
      delete node.faults;
      await node.stop();
      await startNode({ port, log: shorter });
      return unavailable();
    };
    const page = await store.readAll(appended.position, 100);
    expect(page).toEqual({ events: [], position: appended.position });
    expect(reads).toBe(2);
    end();
  });

  it('reads on to the end, each event once, when the server is killed meanwhile', async () => {
    const node = await startNode();
    const store = openStore(node);
    const appends = Array.from({ length: 6 }, () => newAppend(newTenant(), { events: newEvents(50) }));
    for (const append of appends) await mustAppend(store, append);
    let sent = 0;
    let restarted: Promise<void> | undefined;
    node.onSend = () => {
      sent += 1;
      if (sent === 130) restarted = node.restart();
    };
    const seen: StoredEvent[] = [];
    for (let after = 0n; ;) {
      const page = await store.readAll(after, 100);
      seen.push(...page.events);
      if (page.position === after) break;
      after = page.position;
    }
    await restarted;
    expect(idsOf(seen)).toEqual(appends.flatMap(({ events }) => idsOf(events)));
  });

  it('gives up on a peer that accepts and never responds, and works when a server replaces it', async () => {
    const peer = await startRelay();
    const store = openStore(peer.connectionString, IMPATIENT);
    const append = newAppend(newTenant());
    await expectUnavailable(store.append(append));
    await expectUnavailable(store.readStream(append.stream));
    await expectUnavailable(store.readAll(0n, 10));
    await expectUnavailable(store.ping());
    await peer.close();
    await startNode({ port: peer.port });
    await expectToWork(store);
  });

  it('leaves a dead connection that was not closed', async () => {
    const node = await startNode();
    const relay = await startRelay(node.port);
    const store = openStore(relay.connectionString, SHORT_CALLS);
    const append = newAppend(newTenant());
    await mustAppend(store, append);
    relay.deaden();
    await mustAppend(store, { ...append, expectedRevision: 0n, events: newEvents(1) });
    relay.deaden();
    expect(await store.readStream(append.stream)).toHaveLength(2);
    await store.close();
    await relay.close();
  });

  it('survives a failed search for the cluster that no caller waits for any more', async () => {
    const relay = await startRelay();
    await relay.close();
    const nowhere = `127.0.0.1:${relay.port}`;
    const store = openStore(
      `esdb://${nowhere},${nowhere}?tls=false&maxDiscoverAttempts=3&discoveryInterval=100`,
      IMPATIENT,
    );
    // An unhandled error event would end the process, and with it this test.
    await expectUnavailable(store.head());
    await expectUnavailable(store.append(newAppend(newTenant())));
    await sleep(500);
  });

  it('gives up on an unreachable server, and works when it is back', async () => {
    const node = await startNode();
    await node.stop();
    const store = openStore(node, IMPATIENT);
    await expectUnavailable(store.append(newAppend(newTenant())));
    await expectUnavailable(store.head());
    await node.start();
    await expectToWork(store);
  });

  it('goes to the leader that a follower names', async () => {
    const leader = await startNode();
    const follower = await startNode({ log: leader.log });
    follower.notLeader = { host: '127.0.0.1', port: leader.port };
    const store = openStore(follower);
    const append = newAppend(newTenant());
    await mustAppend(store, append);
    await expectOnce(store, append);
    expect(follower.calls.filter((method) => method === 'append')).toHaveLength(1);
    expect(leader.calls.filter((method) => method === 'append')).toHaveLength(1);
  });

  it('finds the leader of a cluster by gossip, and the next one when it dies', async () => {
    const one = await startNode();
    const two = await startNode({ log: one.log });
    const members = (leader: number) =>
      [one, two].map(({ port }) => ({ port, state: port === leader ? LEADER : FOLLOWER, alive: true }) as const);
    one.members = two.members = members(one.port);
    const store = openStore(`esdb://127.0.0.1:${one.port},127.0.0.1:${two.port}?tls=false&discoveryInterval=20`);
    const append = newAppend(newTenant());
    await mustAppend(store, append);
    expect(two.calls).not.toContain('append');
    await one.stop();
    two.members = members(two.port);
    await mustAppend(store, { ...append, expectedRevision: 0n, events: newEvents(1) });
    expect(two.calls).toContain('append');
  });

  it.each([3_600_000, -3_600_000])(
    "tolerates a server whose clock is %s ms off, which breaks the client's own way of appending",
    async (offMs) => {
      const node = await startNode();
      node.log.now = () => Date.now() + offMs;
      if (offMs > 0) {
        const client = EventStoreDBClient.connectionString(node.connectionString);
        const byBatch = client.appendToStream('order-1', jsonEvent({ type: 'OrderPlaced', data: {} }), {
          expectedRevision: 'no_stream',
        });
        await expect(byBatch).rejects.toMatchObject({ type: 'deadline-exceeded' });
        await client.dispose();
      }
      const append = newAppend(newTenant());
      const store = openStore(node);
      await mustAppend(store, append);
      // The time of an event is the server's, whatever this process's clock says.
      const [{ recordedAt }] = (await store.readStream(append.stream)) as [StoredEvent];
      expect(Math.abs(recordedAt - Date.now() - offMs)).toBeLessThan(1_000_000);
      await expectOnce(store, append);
    },
  );

  it('is not affected by the end of another server in the same process', async () => {
    const [node, other] = [await startNode(), await startNode()];
    const [store, doomed] = [openStore(node), openStore(other, IMPATIENT)];
    let release: (fault?: undefined) => void = () => undefined;
    const held = new Promise<undefined>((resolve) => (release = resolve));
    node.faults = other.faults = (method) => (method === 'append' ? held : undefined);
    const append = newAppend(newTenant());
    const verdict = store.append(append);
    const lost = expectUnavailable(doomed.append(newAppend(newTenant())));
    await expect
      .poll(() => [...node.calls, ...other.calls].filter((method) => method === 'append'), PATIENTLY)
      .toEqual(['append', 'append']);
    await other.stop();
    await lost;
    release();
    expect(await verdict).toMatchObject({ kind: 'appended' });
    expect(node.calls.filter((method) => method === 'append')).toHaveLength(1);
  });

  it('finishes pending calls when it is closed, and accepts no more', async () => {
    const node = await startNode();
    const store = openStore(node);
    const append = newAppend(newTenant());
    const verdict = store.append(append);
    await store.close();
    expect(await verdict).toMatchObject({ kind: 'appended' });
    await expectUnavailable(store.append(newAppend(newTenant())));
    await expectUnavailable(store.readStream(append.stream));
    expect(node.log.lastRevision(append.stream)).toBe(0n);
  });
});
