import { describe, expect, it } from 'vitest';
import type { Subject } from '../event-store.contract.ts';
import { idsOf, mustAppend, newAppend, newClaim, newEvents, newTenant } from './sample.ts';

export function describeClaims(subject: Subject): void {
  describe('claims', () => {
    it('are held by the stream whose append took them', async () => {
      const { store } = subject;
      const tenantId = newTenant();
      const claim = newClaim(tenantId);
      expect(await store.claimHolder(claim)).toBeUndefined();
      const append = newAppend(tenantId, { claim: [claim] });
      await mustAppend(store, append);
      expect(await store.claimHolder(claim)).toBe(append.stream);
    });

    it('are looked up in batches, in input order', async () => {
      const { store } = subject;
      const tenantId = newTenant();
      expect(await store.claimHolders([])).toEqual([]);
      const claims = Array.from({ length: 60 }, () => newClaim(tenantId));
      const holder = newAppend(tenantId, { claim: claims.filter((_, at) => at % 20 === 0) });
      await mustAppend(store, holder);
      await mustAppend(store, {
        ...holder,
        expectedRevision: 0n,
        events: newEvents(1),
        claim: [],
        release: [claims[20]!],
      });
      const held = [0, 40];
      const expected = claims.map((_, at) => (held.includes(at) ? holder.stream : undefined));
      expect(await store.claimHolders(claims)).toEqual(expected);
      expect(await store.claimHolders([claims[40]!, claims[1]!, claims[40]!])).toEqual([
        holder.stream,
        undefined,
        holder.stream,
      ]);
    });

    it('are listed by holder, without released ones', async () => {
      const { store } = subject;
      const tenantId = newTenant();
      const [kept, moved, released] = [newClaim(tenantId), newClaim(tenantId), newClaim(tenantId)];
      const first = newAppend(tenantId, { claim: [kept!, moved!, released!] });
      await mustAppend(store, first);
      await mustAppend(store, {
        ...first,
        expectedRevision: 0n,
        events: newEvents(1),
        claim: [],
        release: [moved!, released!],
      });
      await mustAppend(store, { ...first, expectedRevision: 1n, events: newEvents(1), claim: [moved!], release: [] });
      const byDigest = (claims: readonly { digest: string }[]) =>
        claims.toSorted((a, b) => a.digest.localeCompare(b.digest));
      expect(byDigest(await store.claimsHeldBy(first.stream))).toEqual(byDigest([kept!, moved!]));
      expect(await store.claimsHeldBy(newAppend(tenantId).stream)).toEqual([]);
    });

    it('are reported with their holder to the second taker, whose stream is unchanged', async () => {
      const { store } = subject;
      const tenantId = newTenant();
      const claim = newClaim(tenantId);
      const first = newAppend(tenantId, { claim: [claim] });
      await mustAppend(store, first);
      const second = newAppend(tenantId, { claim: [claim], events: newEvents(2) });
      expect(await store.append(second)).toEqual({ kind: 'claimed', claim, holder: first.stream });
      expect(await store.readStream(second.stream)).toEqual([]);
      expect(await store.claimHolder(claim)).toBe(first.stream);
      await mustAppend(store, { ...second, claim: [] });
    });

    it('cannot be taken twice by the same stream either', async () => {
      const { store } = subject;
      const claim = newClaim(newTenant());
      const first = newAppend(claim.tenantId, { claim: [claim] });
      await mustAppend(store, first);
      const again = { ...first, expectedRevision: 0n, events: newEvents(1) };
      expect(await store.append(again)).toEqual({ kind: 'claimed', claim, holder: first.stream });
      expect(await store.readStream(first.stream)).toHaveLength(1);
    });

    it('can be taken again once they were released', async () => {
      const { store } = subject;
      const claim = newClaim(newTenant());
      const first = newAppend(claim.tenantId, { claim: [claim] });
      await mustAppend(store, first);
      await mustAppend(store, { ...first, expectedRevision: 0n, events: newEvents(1), claim: [], release: [claim] });
      expect(await store.claimHolder(claim)).toBeUndefined();
      const second = newAppend(claim.tenantId, { claim: [claim] });
      await mustAppend(store, second);
      expect(await store.claimHolder(claim)).toBe(second.stream);
      await mustAppend(store, { ...second, expectedRevision: 0n, events: newEvents(1), claim: [], release: [claim] });
      await mustAppend(store, { ...first, expectedRevision: 1n, events: newEvents(1), claim: [claim] });
      expect(await store.claimHolder(claim)).toBe(first.stream);
    });

    it.each([-1n, 1n, 7n])(
      'stay free when the append that wanted them had a wrong revision (%s for 0)',
      async (expectedRevision) => {
        const { store } = subject;
        const claim = newClaim(newTenant());
        const late = newAppend(claim.tenantId);
        await mustAppend(store, late);
        const refused = { ...late, expectedRevision, events: newEvents(1), claim: [claim] };
        expect(await store.append(refused)).toEqual({ kind: 'wrongRevision', actual: 0n });
        expect(await store.claimHolder(claim)).toBeUndefined();
        await mustAppend(store, newAppend(claim.tenantId, { claim: [claim] }));
      },
    );

    it('stay held when the append that would have released them had a wrong revision', async () => {
      const { store } = subject;
      const claim = newClaim(newTenant());
      const holder = newAppend(claim.tenantId, { claim: [claim] });
      await mustAppend(store, holder);
      const refused = { ...holder, expectedRevision: 3n, events: newEvents(1), claim: [], release: [claim] };
      expect(await store.append(refused)).toEqual({ kind: 'wrongRevision', actual: 0n });
      expect(await store.claimHolder(claim)).toBe(holder.stream);
    });

    it('are all taken or none', async () => {
      const { store } = subject;
      const tenantId = newTenant();
      const [held, ...free] = [newClaim(tenantId), newClaim(tenantId), newClaim(tenantId), newClaim(tenantId)];
      const holder = newAppend(tenantId, { claim: [held!] });
      await mustAppend(store, holder);
      const loser = newAppend(tenantId, { claim: [...free, held!] });
      expect(await store.append(loser)).toEqual({ kind: 'claimed', claim: held, holder: holder.stream });
      for (const claim of free) expect(await store.claimHolder(claim)).toBeUndefined();
      await mustAppend(store, newAppend(tenantId, { claim: free }));
    });

    it('can be exchanged in one append: one released, another taken', async () => {
      const { store } = subject;
      const tenantId = newTenant();
      const [old, next] = [newClaim(tenantId), newClaim(tenantId)];
      const first = newAppend(tenantId, { claim: [old] });
      await mustAppend(store, first);
      await mustAppend(store, { ...first, expectedRevision: 0n, events: newEvents(1), claim: [next], release: [old] });
      expect(await store.claimHolder(old)).toBeUndefined();
      expect(await store.claimHolder(next)).toBe(first.stream);
    });

    it('stay with their stream when one append releases and takes the same one', async () => {
      const { store } = subject;
      const claim = newClaim(newTenant());
      const first = newAppend(claim.tenantId, { claim: [claim] });
      await mustAppend(store, first);
      await mustAppend(store, { ...first, expectedRevision: 0n, events: newEvents(1), release: [claim] });
      expect(await store.claimHolder(claim)).toBe(first.stream);
      expect(await store.append(newAppend(claim.tenantId, { claim: [claim] }))).toMatchObject({ kind: 'claimed' });
    });

    it('cannot be released by a stream that does not hold them', async () => {
      const { store } = subject;
      const claim = newClaim(newTenant());
      const holder = newAppend(claim.tenantId, { claim: [claim] });
      await mustAppend(store, holder);
      await mustAppend(store, newAppend(claim.tenantId, { release: [claim] }));
      expect(await store.claimHolder(claim)).toBe(holder.stream);
      const thief = newAppend(claim.tenantId, { claim: [claim], release: [claim] });
      expect(await store.append(thief)).toEqual({ kind: 'claimed', claim, holder: holder.stream });
    });

    it('are separate for each tenant and kind', async () => {
      const { store } = subject;
      const claim = newClaim(newTenant());
      const others = [
        { ...claim, tenantId: newTenant() },
        { ...claim, kind: 'userName' },
      ];
      await mustAppend(store, newAppend(claim.tenantId, { claim: [claim] }));
      for (const other of others) {
        expect(await store.claimHolder(other)).toBeUndefined();
        await mustAppend(store, newAppend(other.tenantId, { claim: [other] }));
      }
    });

    it('do not conflict when the append that took them is repeated', async () => {
      const { store } = subject;
      const [claim, old] = [newClaim(newTenant()), newClaim(newTenant())];
      const first = newAppend(claim.tenantId, { claim: [claim] });
      const verdict = await mustAppend(store, first);
      expect(await store.append(first)).toEqual(verdict);
      const second = { ...first, expectedRevision: 0n, events: newEvents(1), claim: [old], release: [claim] };
      const exchanged = await mustAppend(store, second);
      expect(await store.append(second)).toEqual(exchanged);
      expect(idsOf(await store.readStream(first.stream))).toEqual(idsOf([...first.events, ...second.events]));
      expect(await store.claimHolder(claim)).toBeUndefined();
      expect(await store.claimHolder(old)).toBe(first.stream);
    });
  });
}
