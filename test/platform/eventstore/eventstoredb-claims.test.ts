import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { EventStoreUnavailable, type ClaimKey, type EventStore } from '../../../src/platform/eventstore/port.ts';
import { claimStream } from '../../../src/platform/eventstore/eventstoredb/claim-stream.ts';
import { idsOf, mustAppend, newAppend, newClaim, newEvents, newTenant } from '../../contracts/event-store/sample.ts';
import {
  abandonedAppend,
  crashBefore,
  death,
  fencesIn,
  recover,
  wordsOf,
} from '../../fixtures/eventstoredb/crashes.ts';
import { ANY } from '../../fixtures/eventstoredb/event-log.ts';
import { unavailable } from '../../fixtures/eventstoredb/faults.ts';
import { withNode } from '../../fixtures/eventstoredb/with-node.ts';

/** For calls that must fail. */
const IMPATIENT = { timeoutMs: 400, callTimeoutMs: 200 };
const AT_ONCE = { claimGraceMs: 0 };
const PATIENTLY = { timeout: 20_000 };

describe('EventStoreDB adapter: claims and crashes', () => {
  const { startNode, openStore } = withNode();

  it('reserves claims before the events, and records releases after them', async () => {
    const node = await startNode();
    const claim = newClaim(newTenant());
    const append = newAppend(claim.tenantId, { claim: [claim] });
    const store = openStore(node);
    await mustAppend(store, append);
    const written = node.log.all.filter(({ stream }) => !stream.startsWith('$'));
    expect(written.map(({ stream, type }) => [stream, type])).toEqual([
      [claimStream(claim), 'ClaimReserved'],
      [append.stream, 'AccountRenamed'],
    ]);
    await mustAppend(store, { ...append, expectedRevision: 0n, events: newEvents(1), claim: [], release: [claim] });
    await expect.poll(() => wordsOf(node, claim), PATIENTLY).toEqual(['ClaimReserved', 'ClaimReleased']);
  });

  it('responds as soon as the events are written, and finishes its claims before it closes', async () => {
    const node = await startNode();
    const [taken, given] = [newClaim(newTenant()), newClaim(newTenant())];
    const store = openStore(node);
    const append = newAppend(taken.tenantId, { claim: [given] });
    await mustAppend(store, append);
    let letGo: (fault?: undefined) => void = () => undefined;
    const held = new Promise<undefined>((resolve) => (letGo = resolve));
    let written = false;
    node.faults = (_method, _, stream) => {
      if (stream === append.stream) written = true;
      return written && stream?.startsWith('claim-') ? held : undefined;
    };
    await mustAppend(store, {
      ...append,
      expectedRevision: 0n,
      events: newEvents(1),
      claim: [taken],
      release: [given],
    });
    expect(wordsOf(node, taken)).toEqual(['ClaimReserved']);
    const closed = store.close();
    letGo();
    await closed;
    expect(wordsOf(node, taken)).toEqual(['ClaimReserved']);
    expect(wordsOf(node, given)).toEqual(['ClaimReserved', 'ClaimReleased']);
  });

  it('reserves the claims of one append concurrently', async () => {
    const node = await startNode();
    const claims = [newClaim(newTenant()), newClaim(newTenant()), newClaim(newTenant())];
    let [under, most] = [0, 0];
    let letGo: (fault?: undefined) => void = () => undefined;
    const held = new Promise<undefined>((resolve) => (letGo = resolve));
    node.faults = (method, _, stream) => {
      if (method !== 'append' || !stream?.startsWith('claim-')) return undefined;
      most = Math.max(most, ++under);
      if (most === claims.length) letGo();
      return held;
    };
    await mustAppend(openStore(node), newAppend(claims[0]!.tenantId, { claim: claims }));
    expect(most).toBeGreaterThanOrEqual(claims.length);
  });

  it('does not deadlock two appends that want the same claims', async () => {
    const node = await startNode();
    const claims = [newClaim(newTenant()), newClaim(newTenant())] as const;
    const [first, second] = claimStream(claims[0]) < claimStream(claims[1]) ? claims : [claims[1], claims[0]];
    const [one, two] = ['one', 'two'].map((name) =>
      openStore(`${node.connectionString}&connectionName=${name}`),
    ) as unknown as [EventStore, EventStore];
    // Each gets one of them first: one append the first by name, the other the second.
    const isReserved = (claim: ClaimKey) => wordsOf(node, claim).length > 0;
    node.faults = async (method, metadata, stream) => {
      if (method !== 'append') return undefined;
      const name = metadata.get('connection-name')[0];
      const waitsFor =
        name === 'one' && stream === claimStream(second)
          ? second
          : name === 'two' && stream === claimStream(first)
            ? first
            : undefined;
      while (waitsFor && !isReserved(waitsFor)) await once(node.log, 'commit');
      return undefined;
    };
    const appends = [
      newAppend(first.tenantId, { claim: claims }),
      newAppend(first.tenantId, { claim: claims }),
    ] as const;
    const verdicts = await Promise.all([one.append(appends[0]), two.append(appends[1])]);
    expect(verdicts.map(({ kind }) => kind).sort()).toEqual(['appended', 'claimed']);
    const winner = appends[verdicts.findIndex(({ kind }) => kind === 'appended')]!;
    for (const claim of claims) expect(await openStore(node).claimHolder(claim)).toBe(winner.stream);
  });

  it('releases a claim when its append had a wrong revision', async () => {
    const node = await startNode();
    const claim = newClaim(newTenant());
    await openStore(node).append(newAppend(claim.tenantId, { claim: [claim], expectedRevision: 5n }));
    expect(wordsOf(node, claim)).toEqual(['ClaimReserved', 'ClaimReleased']);
  });

  describe('after a crash between reserving and appending', () => {
    it('the claim is free, but not available to others during the grace period', async () => {
      const node = await startNode();
      const { claim, append } = await abandonedAppend(node, openStore(node));
      const store = openStore(node, IMPATIENT);
      expect(await store.claimHolder(claim)).toBeUndefined();
      const other = newAppend(claim.tenantId, { claim: [claim] });
      await expect(store.append(other)).rejects.toBeInstanceOf(EventStoreUnavailable);
      expect(await store.readStream(other.stream)).toEqual([]);
      expect(fencesIn(node, append.stream)).toBe(0);
    });

    it('another append gets it after the grace period', async () => {
      const node = await startNode();
      const { claim, append } = await abandonedAppend(node, openStore(node));
      const store = openStore(node, AT_ONCE);
      const other = newAppend(claim.tenantId, { claim: [claim] });
      await mustAppend(store, other);
      expect(await store.claimHolder(claim)).toBe(other.stream);
      expect(await store.append(append)).toEqual({ kind: 'claimed', claim, holder: other.stream });
      expect(await store.readStream(append.stream)).toEqual([]);
    });

    it('the same append succeeds at once when it is retried', async () => {
      const node = await startNode();
      const { claim, append } = await abandonedAppend(node, openStore(node));
      const store = openStore(node);
      const verdict = await mustAppend(store, append);
      expect(await store.claimHolder(claim)).toBe(append.stream);
      expect(idsOf(await store.readStream(append.stream))).toEqual(idsOf(append.events));
      expect(await store.append(append)).toEqual(verdict);
    });

    it('a reservation whose revision was taken by another event blocks nobody', async () => {
      const node = await startNode();
      const { claim, append } = await abandonedAppend(node, openStore(node));
      const store = openStore(node);
      await mustAppend(store, { ...append, events: newEvents(1), claim: [] });
      expect(await store.claimHolder(claim)).toBeUndefined();
      await mustAppend(store, newAppend(claim.tenantId, { claim: [claim] }));
      expect(fencesIn(node, append.stream)).toBe(0);
    });

    it('a reservation for a revision that the stream never reaches expires as well', async () => {
      const node = await startNode();
      const { claim } = await abandonedAppend(node, openStore(node), { expectedRevision: 7n });
      await mustAppend(openStore(node, AT_ONCE), newAppend(claim.tenantId, { claim: [claim] }));
    });
  });

  describe('a slow writer', () => {
    it('loses its claim for good after a takeover, though its events arrive later', async () => {
      const node = await startNode();
      const [slow, quick] = [openStore(node), openStore(node, AT_ONCE)];
      const claim = newClaim(newTenant());
      const append = newAppend(claim.tenantId, { claim: [claim] });
      const other = newAppend(claim.tenantId, { claim: [claim] });
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

    it('keeps its claim when its events arrive before a takeover is possible', async () => {
      const node = await startNode();
      const [slow, other] = [openStore(node), openStore(node)];
      const claim = newClaim(newTenant());
      const append = newAppend(claim.tenantId, { claim: [claim] });
      let arrive: (fault?: undefined) => void = () => undefined;
      const held = new Promise<undefined>((resolve) => (arrive = resolve));
      node.faults = (method, _, stream) => (method === 'append' && stream === append.stream ? held : undefined);
      const verdict = slow.append(append);
      await expect.poll(() => wordsOf(node, claim), PATIENTLY).toEqual(['ClaimReserved']);
      const late = other.append(newAppend(claim.tenantId, { claim: [claim] }));
      arrive();
      expect(await verdict).toMatchObject({ kind: 'appended' });
      expect(await late).toEqual({ kind: 'claimed', claim, holder: append.stream });
    });
  });

  it('holds a claim as soon as the event that takes it is written, even if the process dies right after that', async () => {
    const node = await startNode();
    const claim = newClaim(newTenant());
    const append = newAppend(claim.tenantId, { claim: [claim] });
    let reserved = false;
    node.faults = (method, _, stream) => {
      if (method !== 'append' || stream !== claimStream(claim)) return undefined;
      if (reserved) return death();
      reserved = true;
      return undefined;
    };
    const dying = openStore(node);
    await mustAppend(dying, append);
    await dying.close();
    recover(node);
    expect(wordsOf(node, claim)).toEqual(['ClaimReserved']);
    const store = openStore(node, AT_ONCE);
    expect(await store.claimHolder(claim)).toBe(append.stream);
    expect(await store.append(newAppend(claim.tenantId, { claim: [claim] }))).toEqual({
      kind: 'claimed',
      claim,
      holder: append.stream,
    });
    await mustAppend(store, { ...append, expectedRevision: 0n, events: newEvents(1), claim: [], release: [claim] });
    expect(await store.claimHolder(claim)).toBeUndefined();
  });

  it('treats a claim as released as soon as the releasing event is written, even if the process dies before recording that', async () => {
    const node = await startNode();
    const claim = newClaim(newTenant());
    const append = newAppend(claim.tenantId, { claim: [claim] });
    const store = openStore(node);
    await mustAppend(store, append);
    // So many events in between that the release is not on the first page that the next writer reads.
    for (let at = 0; at < 250; at += 1) {
      const later = {
        id: crypto.randomUUID(),
        type: 'Later',
        json: true,
        data: Buffer.from('{}'),
        metadata: Buffer.alloc(0),
      };
      node.log.append(append.stream, ANY, [later]);
    }
    crashBefore(node, claimStream(claim));
    const release = { ...append, expectedRevision: 250n, events: newEvents(1), claim: [], release: [claim] };
    const dying = openStore(node);
    await mustAppend(dying, release);
    await dying.close();
    recover(node);
    expect(wordsOf(node, claim)).toEqual(['ClaimReserved']);
    expect(await store.claimHolder(claim)).toBeUndefined();
    await mustAppend(store, newAppend(claim.tenantId, { claim: [claim] }));
  });

  it('does not wait for its own reservation when the reply to it was lost', async () => {
    const node = await startNode();
    const claim = newClaim(newTenant());
    node.log.recognisesRepeats = false;
    let lost = false;
    node.lostReplies = (_, stream) => {
      if (lost || stream !== claimStream(claim)) return undefined;
      lost = true;
      return unavailable();
    };
    await mustAppend(openStore(node), newAppend(claim.tenantId, { claim: [claim] }));
    expect(lost).toBe(true);
    expect(wordsOf(node, claim)).toEqual(['ClaimReserved']);
  });

  it('releases its reservations when it cannot reach the next claim', async () => {
    const node = await startNode();
    const claims = [newClaim(newTenant()), newClaim(newTenant())] as const;
    const [one, two] = claimStream(claims[0]) < claimStream(claims[1]) ? claims : [claims[1], claims[0]];
    crashBefore(node, claimStream(two));
    await expect(openStore(node).append(newAppend(one.tenantId, { claim: [one, two] }))).rejects.toMatchObject({
      type: 'access-denied',
    });
    await expect.poll(() => wordsOf(node, one), PATIENTLY).toEqual(['ClaimReserved', 'ClaimReleased']);
  });
});
