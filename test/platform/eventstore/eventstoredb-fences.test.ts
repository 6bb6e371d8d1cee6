import { describe, expect, it } from 'vitest';
import { idsOf, mustAppend, newAppend, newClaim, newEvents, newTenant } from '../../contracts/event-store/sample.ts';
import { abandonedAppend, fencesIn } from '../../fixtures/eventstoredb/crashes.ts';
import type { StandIn } from '../../fixtures/eventstoredb/stand-in.ts';
import { withNode } from '../../fixtures/eventstoredb/with-node.ts';

const AT_ONCE = { claimGraceMs: 0 };

describe('EventStoreDB adapter: a fence in a stream', () => {
  const { startNode, openStore } = withNode();

  /** A stream with one event, a fence, and nothing else. */
  async function fenced(node: StandIn) {
    const store = openStore(node, AT_ONCE);
    const first = newAppend(newTenant());
    await mustAppend(store, first);
    const before = await store.head();
    const { claim } = await abandonedAppend(node, openStore(node), { stream: first.stream, expectedRevision: 0n });
    await mustAppend(store, newAppend(claim.tenantId, { claim: [claim] }));
    expect(fencesIn(node, first.stream)).toBe(1);
    return { store, first, before };
  }

  it('is invisible to readers', async () => {
    const node = await startNode();
    const { store, first, before } = await fenced(node);
    expect(idsOf(await store.readStream(first.stream))).toEqual(idsOf(first.events));
    expect(idsOf(await store.readStreamTail(first.stream, 1))).toEqual(idsOf(first.events));
    const { events } = await store.readAll(before, 100);
    expect(events.filter(({ stream }) => stream === first.stream)).toEqual([]);
  });

  it('does not change the revision that a writer knows', async () => {
    const node = await startNode();
    const { store, first } = await fenced(node);
    const claim = newClaim(first.tenantId);
    const second = { ...first, expectedRevision: 0n, events: newEvents(2), claim: [claim] };
    const verdict = await mustAppend(store, second);
    expect(verdict.revision).toBe(3n);
    expect(idsOf(await store.readStream(first.stream))).toEqual(idsOf([...first.events, ...second.events]));
    expect(await store.claimHolder(claim)).toBe(first.stream);
    expect(await store.append(second)).toEqual(verdict);
    expect(await store.append({ ...second, events: newEvents(1), claim: [] })).toEqual({
      kind: 'wrongRevision',
      actual: 3n,
    });
    await mustAppend(store, { ...second, expectedRevision: 3n, events: newEvents(1), claim: [] });
  });

  it('does not hide from a writer that its events were written after it', async () => {
    const node = await startNode();
    const { store, first } = await fenced(node);
    const second = { ...first, expectedRevision: 0n, events: newEvents(2) };
    const verdict = await mustAppend(store, second);
    expect(await store.append(second)).toEqual(verdict);
    expect(idsOf(await store.readStream(first.stream))).toEqual(idsOf([...first.events, ...second.events]));
  });
});
