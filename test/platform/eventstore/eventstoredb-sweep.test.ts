import { describe, expect, it } from 'vitest';
import { mustAppend, newAppend, newClaim, newEvents, newTenant } from '../../contracts/event-store/sample.ts';
import { claimStream, confirmed } from '../../../src/platform/eventstore/eventstoredb/claim-stream.ts';
import { abandonedAppend, crashBefore, death, recover, wordsOf } from '../../fixtures/eventstoredb/crashes.ts';
import { withNode } from '../../fixtures/eventstoredb/with-node.ts';

const AT_ONCE = { claimGraceMs: 0 };

describe('EventStoreDB adapter: the sweep of claims', () => {
  const { startNode, openStore } = withNode();

  it('ends abandoned reservations, leaves held ones alone, and records releases', async () => {
    const node = await startNode();
    const dead = await abandonedAppend(node, openStore(node));
    const held = newClaim(newTenant());
    const released = newClaim(newTenant());
    const store = openStore(node);
    const holder = newAppend(held.tenantId, { claim: [released] });
    await mustAppend(store, holder);
    // Lets the reservation through and nothing after it.
    let calls = 0;
    node.faults = (method, _, stream) =>
      method === 'append' && stream!.startsWith('claim-') && ++calls > 1 ? death() : undefined;
    await mustAppend(store, {
      ...holder,
      expectedRevision: 0n,
      events: newEvents(1),
      claim: [held],
      release: [released],
    });
    await store.close();
    recover(node);
    expect([dead.claim, held, released].map((claim) => wordsOf(node, claim).at(-1))).toEqual([
      'ClaimReserved',
      'ClaimReserved',
      'ClaimReserved',
    ]);
    const sweeper = openStore(node, AT_ONCE);
    expect(await sweeper.sweepClaims()).toBe(2);
    expect([dead.claim, held, released].map((claim) => wordsOf(node, claim).at(-1))).toEqual([
      'ClaimReleased',
      'ClaimReserved',
      'ClaimReleased',
    ]);
    expect(await sweeper.claimHolder(held)).toBe(holder.stream);
  });

  it('leaves recent reservations to the next sweep, and reads nothing twice', async () => {
    const node = await startNode();
    const { claim } = await abandonedAppend(node, openStore(node));
    const patient = openStore(node);
    expect(await patient.sweepClaims()).toBe(0);
    expect(wordsOf(node, claim)).toEqual(['ClaimReserved']);
    for (let at = 0; at < 4; at += 1)
      await mustAppend(patient, newAppend(newTenant(), { claim: [newClaim(newTenant())] }));
    const sweeper = openStore(node, AT_ONCE);
    expect(await sweeper.sweepClaims()).toBe(1);
    let sent = 0;
    node.onSend = (message) => void (sent += message.hasEvent() ? 1 : 0);
    expect(await sweeper.sweepClaims()).toBe(0);
    // Its progress, and the few events since, of more than a dozen.
    expect(sent).toBeLessThan(6);
    expect(node.log.all.length).toBeGreaterThan(10);
    expect(wordsOf(node, claim)).toEqual(['ClaimReserved', 'ClaimReleased']);
  });

  it('records a release that came before the confirmation of its claim, as a process of an earlier version may write it', async () => {
    const node = await startNode();
    const claim = newClaim(newTenant());
    const dying = openStore(node);
    const holder = newAppend(claim.tenantId, { claim: [claim] });
    await mustAppend(dying, holder);
    crashBefore(node, claimStream(claim));
    await mustAppend(dying, { ...holder, expectedRevision: 0n, events: newEvents(1), claim: [], release: [claim] });
    await dying.close();
    recover(node);
    const word = confirmed({ holder: holder.stream, eventId: holder.events[0]!.id, revision: 0n });
    node.log.append(claimStream(claim), 0n, [
      {
        id: word.id,
        type: word.type,
        json: true,
        data: Buffer.from(JSON.stringify(word.data)),
        metadata: Buffer.alloc(0),
      },
    ]);
    const sweeper = openStore(node, AT_ONCE);
    expect(await sweeper.claimHolder(claim)).toBeUndefined();
    expect(await sweeper.sweepClaims()).toBe(1);
    expect(wordsOf(node, claim)).toEqual(['ClaimReserved', 'ClaimConfirmed', 'ClaimReleased']);
  });

  it('may run in several processes at a time', async () => {
    const node = await startNode();
    const { claim } = await abandonedAppend(node, openStore(node));
    await Promise.all([1, 2, 3].map(() => openStore(node, AT_ONCE).sweepClaims()));
    expect(wordsOf(node, claim)).toEqual(['ClaimReserved', 'ClaimReleased']);
    expect(await openStore(node).claimHolder(claim)).toBeUndefined();
  });
});
