import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { expect, it } from 'vitest';
import { ConnectionTenants } from '../../../src/platform/database/connection-tenants.ts';
import { asTenantId } from '../../../src/platform/kernel/ids.ts';

const tenantId = asTenantId(randomUUID());

it('a failed change of tenant fails every query behind it, and is repeated', async () => {
  const asked: { reject: (error: Error) => void; resolve: () => void }[] = [];
  const client = {
    query: () => new Promise<void>((resolve, reject) => asked.push({ resolve, reject })),
  } as unknown as pg.PoolClient;
  const tenants = new ConnectionTenants();
  const outcomes = Promise.allSettled([tenants.setTenant(client, tenantId), tenants.setTenant(client, tenantId)]);
  expect(asked).toHaveLength(1);
  asked[0]!.reject(new Error('cancelled'));
  expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  const again = tenants.setTenant(client, tenantId);
  expect(asked).toHaveLength(2);
  asked[1]!.resolve();
  await again;
  await tenants.setTenant(client, tenantId);
  expect(asked).toHaveLength(2);
});
