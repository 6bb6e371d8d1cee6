import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { ScimTokens } from '../../../src/contexts/scim/access-tokens.ts';
import type { TenantPool } from '../../../src/platform/database/tenant-pool.ts';

it('of requests at once that all find a use to be noted, one notes it', async () => {
  const statements: string[] = [];
  const clientId = randomUUID();
  const statement = (_tenantId: string, sql: string, [digests]: readonly (readonly Buffer[])[]) => {
    statements.push(sql.trim().split(' ')[0]!);
    const row = { client_id: clientId, secret_id: 's', scope: 'scim:read', expires_at: 1, is_use_known: false };
    const isNote = sql.includes('insert');
    const rows = isNote ? [] : digests!.map((digest) => ({ ...row, digest: digest.toString('hex') }));
    return new Promise((resolve) => setTimeout(() => resolve({ rows }), 5));
  };
  const tokens = new ScimTokens({ statement } as unknown as TenantPool);
  const tenant = Buffer.from(randomUUID().replaceAll('-', ''), 'hex').toString('base64url');
  const token = `${tenant}.${'x'.repeat(43)}`;
  const found = await Promise.all(Array.from({ length: 50 }, () => tokens.find(token)));
  expect(new Set(found.map((each) => each?.clientId))).toEqual(new Set([clientId]));
  expect(statements).toEqual(['select', 'insert']);
  await tokens.find(token);
  expect(statements).toEqual(['select', 'insert', 'select', 'insert']);
});
