import { describe, expect, it } from 'vitest';
import { EventStoreUnavailable, type ClaimKey } from '../../src/eventstore/port.ts';
import { claimStream } from '../../src/eventstore/eventstoredb/claim-stream.ts';
import { idsOf, mustAppend, newAppend, newClaim, newEvents, newTenant } from '../contracts/event-store/sample.ts';
import { callError, unavailable } from '../fixtures/eventstoredb/faults.ts';
import { grpc } from '../fixtures/eventstoredb/protocol.ts';
import type { StandIn } from '../fixtures/eventstoredb/stand-in.ts';
import { withNode } from '../fixtures/eventstoredb/with-node.ts';

/** For what must fail. */
const IMPATIENT = { timeoutMs: 400, callTimeoutMs: 200 };
const AT_ONCE = { claimGraceMs: 0 };
const PATIENTLY = { timeout: 20_000 };

/** What is not tried again: the call that meets it does not go on, as if its process had died there. */
const death = () => callError(grpc.status.PERMISSION_DENIED, 'no', { exception: 'access-denied' });

function crashBefore(node: StandIn, stream: string): void {
  node.faults = (method, _, named) => (method === 'append' && named === stream ? death() : undefined);
}

const recover = (node: StandIn) => delete node.faults;

/** The words of a claim's stream. */
const wordsOf = (node: StandIn, claim: ClaimKey) =>
  node.log.all.filter(({ stream }) => stream === claimStream(claim)).map(({ type }) => type);

const fencesIn = (node: StandIn, stream: string) =>
  node.log.all.filter((record) => record.stream === stream && record.type === 'StreamFenced').length;

describe('EventStoreDB adapter: claims and crashes', () => {
  const { startNode, openStore } = withNode();

  /** An append that died between reserving its claim and writing its events. */
  async function abandoned(node: StandIn, over: Parameters<typeof newAppend>[1] = {}) {
    const claim = newClaim(newTenant());
    const append = newAppend(claim.tenantId, { take: [claim], ...over });
    crashBefore(node, append.stream);
    await expect(openStore(node).append(append)).rejects.toMatchObject({ type: 'access-denied' });
    recover(node);
    expect(wordsOf(node, claim)).toEqual(['ClaimReserved']);
    return { claim, append };
  }

  it('reserves before the events, confirms after them, and notes down what they release', async () => {
    const node = await startNode();
    const claim = newClaim(newTenant());
    const append = newAppend(claim.tenantId, { take: [claim] });
    const store = openStore(node);
    await mustAppend(store, append);
    const written = node.log.all.filter(({ stream }) => !stream.startsWith('$'));
    expect(written.map(({ stream, type }) => [stream, type])).toEqual([
      [claimStream(claim), 'ClaimReserved'],
      [append.stream, 'AccountRenamed'],
      [claimStream(claim), 'ClaimConfirmed'],
    ]);
    await mustAppend(store, { ...append, expectedRevision: 0n, events: newEvents(1), take: [], release: [claim] });
    expect(wordsOf(node, claim)).toEqual(['ClaimReserved', 'ClaimConfirmed', 'ClaimReleased']);
  });

  it('gives a claim back when its append had a wrong revision', async () => {
    const node = await startNode();
    const claim = newClaim(newTenant());
    await openStore(node).append(newAppend(claim.tenantId, { take: [claim], expectedRevision: 5n }));
    expect(wordsOf(node, claim)).toEqual(['ClaimReserved', 'ClaimReleased']);
  });

  describe('after a crash between reserving and appending', () => {
    it('nobody holds the claim, and nobody else gets it during the grace time', async () => {
      const node = await startNode();
      const { claim, append } = await abandoned(node);
      const store = openStore(node, IMPATIENT);
      expect(await store.claimHolder(claim)).toBeUndefined();
      const other = newAppend(claim.tenantId, { take: [claim] });
      await expect(store.append(other)).rejects.toBeInstanceOf(EventStoreUnavailable);
      expect(await store.readStream(other.stream)).toEqual([]);
      expect(fencesIn(node, append.stream)).toBe(0);
    });

    it('somebody else gets it after the grace time', async () => {
      const node = await startNode();
      const { claim, append } = await abandoned(node);
      const store = openStore(node, AT_ONCE);
      const other = newAppend(claim.tenantId, { take: [claim] });
      await mustAppend(store, other);
      expect(await store.claimHolder(claim)).toBe(other.stream);
      expect(await store.append(append)).toEqual({ kind: 'claimed', claim, holder: other.stream });
      expect(await store.readStream(append.stream)).toEqual([]);
    });

    it('the same append goes through at once when it is tried again', async () => {
      const node = await startNode();
      const { claim, append } = await abandoned(node);
      const store = openStore(node);
      const verdict = await mustAppend(store, append);
      expect(await store.claimHolder(claim)).toBe(append.stream);
      expect(idsOf(await store.readStream(append.stream))).toEqual(idsOf(append.events));
      expect(await store.append(append)).toEqual(verdict);
    });

    it('a reservation whose place in the stream was taken by another event stands in nobody’s way', async () => {
      const node = await startNode();
      const { claim, append } = await abandoned(node);
      const store = openStore(node);
      await mustAppend(store, { ...append, events: newEvents(1), take: [] });
      expect(await store.claimHolder(claim)).toBeUndefined();
      await mustAppend(store, newAppend(claim.tenantId, { take: [claim] }));
      expect(fencesIn(node, append.stream)).toBe(0);
    });

    it('a reservation for a place that the stream never comes to ends as well', async () => {
      const node = await startNode();
      const { claim } = await abandoned(node, { expectedRevision: 7n });
      await mustAppend(openStore(node, AT_ONCE), newAppend(claim.tenantId, { take: [claim] }));
    });
  });

  describe('a writer that was merely slow', () => {
    it('loses its claim for good when another took over, though its events arrive after all', async () => {
      const node = await startNode();
      const [slow, quick] = [openStore(node), openStore(node, AT_ONCE)];
      const claim = newClaim(newTenant());
      const append = newAppend(claim.tenantId, { take: [claim] });
      const other = newAppend(claim.tenantId, { take: [claim] });
      let arrive: (fault?: undefined) => void = () => undefined;
      const held = new Promise<undefined>((resolve) => (arrive = resolve));
      let holding = false;
      node.faults = (method, _, stream) => {
        if (holding || method !== 'append' || stream !== append.stream) return undefined;
        holding = true;
        return held;
      };
      const verdict = slow.append(append);
      await expect.poll(() => holding, PATIENTLY).toBe(true);
      await mustAppend(quick, other);
      arrive();
      expect(await verdict).toEqual({ kind: 'claimed', claim, holder: other.stream });
      expect(await quick.readStream(append.stream)).toEqual([]);
      expect(await quick.claimHolder(claim)).toBe(other.stream);
    });

    it('keeps its claim when its events arrive before another may take over', async () => {
      const node = await startNode();
      const [slow, other] = [openStore(node), openStore(node)];
      const claim = newClaim(newTenant());
      const append = newAppend(claim.tenantId, { take: [claim] });
      let arrive: (fault?: undefined) => void = () => undefined;
      const held = new Promise<undefined>((resolve) => (arrive = resolve));
      node.faults = (method, _, stream) => (method === 'append' && stream === append.stream ? held : undefined);
      const verdict = slow.append(append);
      await expect.poll(() => wordsOf(node, claim), PATIENTLY).toEqual(['ClaimReserved']);
      const late = other.append(newAppend(claim.tenantId, { take: [claim] }));
      arrive();
      expect(await verdict).toMatchObject({ kind: 'appended' });
      expect(await late).toEqual({ kind: 'claimed', claim, holder: append.stream });
    });
  });

  describe('a fence in a stream', () => {
    /** A stream with one event, a fence, and nothing else. */
    async function fenced(node: StandIn) {
      const store = openStore(node, AT_ONCE);
      const first = newAppend(newTenant());
      await mustAppend(store, first);
      const before = await store.head();
      const { claim } = await abandoned(node, { stream: first.stream, expectedRevision: 0n });
      await mustAppend(store, newAppend(claim.tenantId, { take: [claim] }));
      expect(fencesIn(node, first.stream)).toBe(1);
      return { store, first, before };
    }

    it('is seen by no reader', async () => {
      const node = await startNode();
      const { store, first, before } = await fenced(node);
      expect(idsOf(await store.readStream(first.stream))).toEqual(idsOf(first.events));
      expect(idsOf(await store.readStreamTail(first.stream, 1))).toEqual(idsOf(first.events));
      const { events } = await store.readFeed(before, 100);
      expect(events.filter(({ stream }) => stream === first.stream)).toEqual([]);
    });

    it('does not come between a writer and the revision that it knows', async () => {
      const node = await startNode();
      const { store, first } = await fenced(node);
      const claim = newClaim(first.tenantId);
      const second = { ...first, expectedRevision: 0n, events: newEvents(2), take: [claim] };
      const verdict = await mustAppend(store, second);
      expect(verdict.revision).toBe(3n);
      expect(idsOf(await store.readStream(first.stream))).toEqual(idsOf([...first.events, ...second.events]));
      expect(await store.claimHolder(claim)).toBe(first.stream);
      expect(await store.append(second)).toEqual(verdict);
      expect(await store.append({ ...second, events: newEvents(1), take: [] })).toEqual({ kind: 'wrongRevision', actual: 3n });
      await mustAppend(store, { ...second, expectedRevision: 3n, events: newEvents(1), take: [] });
    });

    it('does not hide from a writer that its events have been written behind it', async () => {
      const node = await startNode();
      const { store, first } = await fenced(node);
      const second = { ...first, expectedRevision: 0n, events: newEvents(2) };
      const verdict = await mustAppend(store, second);
      expect(await store.append(second)).toEqual(verdict);
      expect(idsOf(await store.readStream(first.stream))).toEqual(idsOf([...first.events, ...second.events]));
    });
  });

  it('answers appended though it dies before it can confirm, and the claim is held all the same', async () => {
    const node = await startNode();
    const claim = newClaim(newTenant());
    const append = newAppend(claim.tenantId, { take: [claim] });
    let reserved = false;
    node.faults = (method, _, stream) => {
      if (method !== 'append' || stream !== claimStream(claim)) return undefined;
      if (reserved) return death();
      reserved = true;
      return undefined;
    };
    await mustAppend(openStore(node), append);
    recover(node);
    expect(wordsOf(node, claim)).toEqual(['ClaimReserved']);
    const store = openStore(node, AT_ONCE);
    expect(await store.claimHolder(claim)).toBe(append.stream);
    expect(await store.append(newAppend(claim.tenantId, { take: [claim] }))).toEqual({ kind: 'claimed', claim, holder: append.stream });
    await mustAppend(store, { ...append, expectedRevision: 0n, events: newEvents(1), take: [], release: [claim] });
    expect(await store.claimHolder(claim)).toBeUndefined();
  });

  it('takes a claim for released as soon as the releasing event is written, though it dies before noting that down', async () => {
    const node = await startNode();
    const claim = newClaim(newTenant());
    const append = newAppend(claim.tenantId, { take: [claim] });
    const store = openStore(node);
    await mustAppend(store, append);
    crashBefore(node, claimStream(claim));
    const release = { ...append, expectedRevision: 0n, events: newEvents(1), take: [], release: [claim] };
    await mustAppend(openStore(node), release);
    recover(node);
    expect(wordsOf(node, claim)).toEqual(['ClaimReserved', 'ClaimConfirmed']);
    for (let at = 0; at < 250; at += 1) node.log.append(append.stream, -2n, [{ ...node.log.all.at(-1)!, id: crypto.randomUUID(), type: 'Later', metadata: Buffer.alloc(0) }]);
    expect(await store.claimHolder(claim)).toBeUndefined();
    await mustAppend(store, newAppend(claim.tenantId, { take: [claim] }));
  });

  it('does not wait for itself when the reply to its reservation was lost', async () => {
    const node = await startNode();
    const claim = newClaim(newTenant());
    node.log.recognisesRepeats = false;
    let lost = false;
    node.lostReplies = (_, stream) => {
      if (lost || stream !== claimStream(claim)) return undefined;
      lost = true;
      return unavailable();
    };
    await mustAppend(openStore(node), newAppend(claim.tenantId, { take: [claim] }));
    expect(lost).toBe(true);
    expect(wordsOf(node, claim)).toEqual(['ClaimReserved', 'ClaimConfirmed']);
  });

  it('gives back what it had reserved when it cannot reach the next claim', async () => {
    const node = await startNode();
    const [one, two] = [newClaim(newTenant()), newClaim(newTenant())].sort((a, b) => (claimStream(a) < claimStream(b) ? -1 : 1)) as [ClaimKey, ClaimKey];
    crashBefore(node, claimStream(two));
    await expect(openStore(node).append(newAppend(one.tenantId, { take: [one, two] }))).rejects.toMatchObject({ type: 'access-denied' });
    await expect.poll(() => wordsOf(node, one), PATIENTLY).toEqual(['ClaimReserved', 'ClaimReleased']);
  });

  describe('the sweep', () => {
    it('ends reservations that were abandoned, confirms what is held, notes down what was released', async () => {
      const node = await startNode();
      const dead = await abandoned(node);
      const held = newClaim(newTenant());
      const released = newClaim(newTenant());
      const store = openStore(node);
      const holder = newAppend(held.tenantId, { take: [released] });
      await mustAppend(store, holder);
      // Lets the reservation through and nothing after it.
      let calls = 0;
      node.faults = (method, _, stream) => (method === 'append' && stream!.startsWith('claim-') && ++calls > 1 ? death() : undefined);
      await mustAppend(store, { ...holder, expectedRevision: 0n, events: newEvents(1), take: [held], release: [released] });
      recover(node);
      expect([dead.claim, held, released].map((claim) => wordsOf(node, claim).at(-1))).toEqual(['ClaimReserved', 'ClaimReserved', 'ClaimConfirmed']);
      const sweeper = openStore(node, AT_ONCE);
      expect(await sweeper.sweepClaims()).toBe(3);
      expect([dead.claim, held, released].map((claim) => wordsOf(node, claim).at(-1))).toEqual(['ClaimReleased', 'ClaimConfirmed', 'ClaimReleased']);
      expect(await sweeper.claimHolder(held)).toBe(holder.stream);
    });

    it('leaves young reservations to the next one, and does not go over the same ground twice', async () => {
      const node = await startNode();
      const { claim } = await abandoned(node);
      const patient = openStore(node);
      expect(await patient.sweepClaims()).toBe(0);
      expect(wordsOf(node, claim)).toEqual(['ClaimReserved']);
      await mustAppend(patient, newAppend(newTenant(), { take: [newClaim(newTenant())] }));
      const sweeper = openStore(node, AT_ONCE);
      expect(await sweeper.sweepClaims()).toBe(1);
      let sent = 0;
      node.onSend = (message) => void (sent += message.hasEvent() ? 1 : 0);
      expect(await sweeper.sweepClaims()).toBe(0);
      // How far it had come, and the few events since, of more than a dozen.
      expect(sent).toBeLessThan(6);
      expect(node.log.all.length).toBeGreaterThan(10);
      expect(wordsOf(node, claim)).toEqual(['ClaimReserved', 'ClaimReleased']);
    });

    it('may be made by several at a time', async () => {
      const node = await startNode();
      const { claim } = await abandoned(node);
      await Promise.all([1, 2, 3].map(() => openStore(node, AT_ONCE).sweepClaims()));
      expect(wordsOf(node, claim)).toEqual(['ClaimReserved', 'ClaimReleased']);
      expect(await openStore(node).claimHolder(claim)).toBeUndefined();
    });
  });
});
