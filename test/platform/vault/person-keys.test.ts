import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { personKey } from '../../../src/platform/vault/vault.ts';
import { sharedApp, type TestApp, type TestTenant } from '../../dsl/app.ts';

describe('keys of many persons', () => {
  let app: TestApp;
  let tenant: TestTenant;
  beforeAll(async () => {
    app = await sharedApp();
    tenant = await app.newTenant();
  });
  afterAll(() => app.close());
  const keys = () => app.services.personKeys;

  it('are made once, also by calls at the same time, and are those of single calls', async () => {
    const { tenantId } = tenant;
    const ids = Array.from({ length: 300 }, () => randomUUID());
    const [all, some, one] = await Promise.all([
      keys().forSealingAll(tenantId, ids),
      keys().forSealingAll(tenantId, [...ids.slice(200), ...ids.slice(200)]),
      keys().forSealing(tenantId, ids[0]!),
    ]);
    expect(all.size).toBe(300);
    expect(new Set([...all.values()].map((key) => key.toString('hex'))).size).toBe(300);
    for (const id of ids.slice(200)) expect(some.get(id)).toEqual(all.get(id));
    expect(one).toEqual(all.get(ids[0]!));
    expect(await keys().forSealingAll(tenantId, ids)).toEqual(all);
  });

  it('are missing for persons who are erased', async () => {
    const { tenantId } = tenant;
    const [stays, gone] = [randomUUID(), randomUUID()];
    await keys().destroy(tenantId, gone);
    const found = await keys().forSealingAll(tenantId, [stays, gone]);
    expect([...found.keys()]).toEqual([stays]);
    const opening = await keys().forOpening([stays, gone].map((personId) => ({ tenantId, personId })));
    expect([...opening.keys()]).toEqual([personKey({ tenantId, personId: stays })]);
  });
});
