import { describe, expect, it } from 'vitest';
import { mustAppend, newAppend, newClaim, newEvents, newTenant } from '../contracts/event-store/sample.ts';
import { claimStream } from '../../src/eventstore/eventstoredb/claim-stream.ts';
import { abandonedAppend, death, recover, wordsOf } from '../fixtures/eventstoredb/crashes.ts';
import { withNode } from '../fixtures/eventstoredb/with-node.ts';

const AT_ONCE = { claimGraceMs: 0 };
const PATIENTLY = { timeout: 20_000 };

describe('EventStoreDB adapter: the sweep of claims', () => {
  const { startNode, openStore } = withNode();

  it('ends reservations that were abandoned, confirms what is held, notes down what was released', async () => {
    const node = await startNode();
    const dead = await abandonedAppend(node, openStore(node));
    const held = newClaim(newTenant());
    const released = newClaim(newTenant());
    const store = openStore(node);
    const holder = newAppend(held.tenantId, { take: [released] });
    await mustAppend(store, holder);
    await expect.poll(() => wordsOf(node, released), PATIENTLY).toEqual(['ClaimReserved', 'ClaimConfirmed']);
    // Lets the reservation through and nothing after it.
    let calls = 0;
    node.faults = (method, _, stream) => (method === 'append' && stream!.startsWith('claim-') && ++calls > 1 ? death() : undefined);
    await mustAppend(store, { ...holder, expectedRevision: 0n, events: newEvents(1), take: [held], release: [released] });
    await store.close();
    recover(node);
    expect([dead.claim, held, released].map((claim) => wordsOf(node, claim).at(-1))).toEqual(['ClaimReserved', 'ClaimReserved', 'ClaimConfirmed']);
    const sweeper = openStore(node, AT_ONCE);
    expect(await sweeper.sweepClaims()).toBe(3);
    expect([dead.claim, held, released].map((claim) => wordsOf(node, claim).at(-1))).toEqual(['ClaimReleased', 'ClaimConfirmed', 'ClaimReleased']);
    expect(await sweeper.claimHolder(held)).toBe(holder.stream);
  });

  it('leaves young reservations to the next one, and does not go over the same ground twice', async () => {
    const node = await startNode();
    const { claim } = await abandonedAppend(node, openStore(node));
    const patient = openStore(node);
    expect(await patient.sweepClaims()).toBe(0);
    expect(wordsOf(node, claim)).toEqual(['ClaimReserved']);
    const confirmed = newClaim(newTenant());
    await mustAppend(patient, newAppend(newTenant(), { take: [confirmed] }));
    await expect.poll(() => wordsOf(node, confirmed), PATIENTLY).toEqual(['ClaimReserved', 'ClaimConfirmed']);
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

  it('notes down a release that came before the confirmation of its claim, as a late confirmation does', async () => {
    const node = await startNode();
    const claim = newClaim(newTenant());
    const store = openStore(node);
    const holder = newAppend(claim.tenantId, { take: [claim] });
    // The confirmation is on its way for so long that the claim has been released when it arrives; then the process dies.
    let arrive: (fault?: undefined) => void = () => undefined;
    const late = new Promise<undefined>((resolve) => (arrive = resolve));
    let calls = 0;
    node.faults = (method, _, stream) => {
      if (method !== 'append' || stream !== claimStream(claim)) return undefined;
      calls += 1;
      if (calls === 1) return undefined;
      return calls === 2 ? late : death();
    };
    await mustAppend(store, holder);
    await expect.poll(() => calls, PATIENTLY).toBe(2);
    await mustAppend(store, { ...holder, expectedRevision: 0n, events: newEvents(1), take: [], release: [claim] });
    await expect.poll(() => calls, PATIENTLY).toBe(3);
    arrive();
    await store.close();
    recover(node);
    expect(wordsOf(node, claim)).toEqual(['ClaimReserved', 'ClaimConfirmed']);
    const sweeper = openStore(node, AT_ONCE);
    expect(await sweeper.sweepClaims()).toBe(1);
    expect(wordsOf(node, claim)).toEqual(['ClaimReserved', 'ClaimConfirmed', 'ClaimReleased']);
  });

  it('may be made by several at a time', async () => {
    const node = await startNode();
    const { claim } = await abandonedAppend(node, openStore(node));
    await Promise.all([1, 2, 3].map(() => openStore(node, AT_ONCE).sweepClaims()));
    expect(wordsOf(node, claim)).toEqual(['ClaimReserved', 'ClaimReleased']);
    expect(await openStore(node).claimHolder(claim)).toBeUndefined();
  });
});
