import { expect, it } from 'vitest';
import { newClaim, newTenant } from '../../contracts/event-store/sample.ts';
import { withNode } from '../../fixtures/eventstoredb/with-node.ts';

const { startNode, openStore } = withNode();

it('looks up a thousand claims with few concurrent reads, and each claim once', async () => {
  const node = await startNode();
  const store = openStore(node);
  const tenantId = newTenant();
  const claims = Array.from({ length: 1_000 }, () => newClaim(tenantId));
  let most = 0;
  node.faults = () => void (most = Math.max(most, node.openReads.size));
  expect(await store.claimHolders(claims)).toEqual(claims.map(() => undefined));
  expect(most).toBeGreaterThan(1);
  // A client's cancellation of a finished read may still be on its way.
  expect(most).toBeLessThan(100);
  expect(node.calls).toHaveLength(1_000);
});
