import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { EventStore } from '../../../src/platform/eventstore/port.ts';
import type { Subject } from '../event-store.contract.ts';
import { mustAppend, newAppend, newClaim, newEvents, newTenant } from './sample.ts';

const RACERS = 12;
const ROUNDS = 3;

export function describeClaimRaces(subject: Subject): void {
  /** The same store, and a second one if possible, so that the contenders do not share a process's memory. */
  const contenders = async (): Promise<EventStore[]> => {
    const other = await subject.reopen?.();
    return other ? [subject.store, other] : [subject.store];
  };

  describe('races for claims', () => {
    it('let exactly one of twelve streams take a claim, and tell the others which', async () => {
      const stores = await contenders();
      for (let round = 0; round < ROUNDS; round += 1) {
        const claim = newClaim(newTenant());
        const racers = Array.from({ length: RACERS }, () => newAppend(claim.tenantId, { claim: [claim] }));
        const verdicts = await Promise.all(racers.map((racer, at) => stores[at % stores.length]!.append(racer)));
        const winners = racers.filter((_, at) => verdicts[at]!.kind === 'appended');
        expect(winners).toHaveLength(1);
        const holder = winners[0]!.stream;
        const lost = verdicts.filter(({ kind }) => kind !== 'appended');
        expect(lost).toEqual(Array.from({ length: RACERS - 1 }, () => ({ kind: 'claimed', claim, holder })));
        expect(await subject.store.claimHolder(claim)).toBe(holder);
        for (const racer of racers) {
          expect(await subject.store.readStream(racer.stream)).toHaveLength(racer.stream === holder ? 1 : 0);
        }
      }
    });

    it('let exactly one succeed when two want the same two claims in opposite order', async () => {
      const stores = await contenders();
      for (let round = 0; round < ROUNDS; round += 1) {
        const tenantId = newTenant();
        const [one, two] = [newClaim(tenantId), newClaim(tenantId)];
        const racers = [newAppend(tenantId, { claim: [one, two] }), newAppend(tenantId, { claim: [two, one] })];
        const verdicts = await Promise.all(racers.map((racer, at) => stores[at % stores.length]!.append(racer)));
        expect(verdicts.map(({ kind }) => kind).sort()).toEqual(['appended', 'claimed']);
        const winner = racers[verdicts.findIndex(({ kind }) => kind === 'appended')]!;
        for (const claim of [one, two]) expect(await subject.store.claimHolder(claim)).toBe(winner.stream);
      }
    });

    it("keep the winner's claim when the loser wanted another one as well", async () => {
      const { store } = subject;
      const tenantId = newTenant();
      const [shared, left, right] = [newClaim(tenantId), newClaim(tenantId), newClaim(tenantId)];
      const racers = [newAppend(tenantId, { claim: [shared, left] }), newAppend(tenantId, { claim: [shared, right] })];
      const verdicts = await Promise.all(racers.map((racer) => store.append(racer)));
      expect(verdicts.map(({ kind }) => kind).sort()).toEqual(['appended', 'claimed']);
      const [won, lost] = verdicts[0]!.kind === 'appended' ? [left, right] : [right, left];
      expect(await store.claimHolder(won)).toBeDefined();
      expect(await store.claimHolder(lost)).toBeUndefined();
      await mustAppend(store, newAppend(tenantId, { claim: [lost] }));
    });

    it('never let two streams hold a claim that changes hands', async () => {
      const stores = await contenders();
      const claim = newClaim(newTenant());
      let holding = 0;
      const takeAndRelease = async (store: EventStore) => {
        const first = newAppend(claim.tenantId, { claim: [claim] });
        while ((await store.append(first)).kind !== 'appended') await sleep(Math.random() * 5);
        holding += 1;
        expect(holding).toBe(1);
        await sleep(1);
        holding -= 1;
        await mustAppend(store, { ...first, expectedRevision: 0n, events: newEvents(1), claim: [], release: [claim] });
      };
      await Promise.all(Array.from({ length: 6 }, (_, at) => takeAndRelease(stores[at % stores.length]!)));
      expect(await subject.store.claimHolder(claim)).toBeUndefined();
    });
  });
}
