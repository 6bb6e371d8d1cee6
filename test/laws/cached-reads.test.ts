import { describe, expect, it } from 'vitest';
import { readModels } from '../../projections/index.ts';
import { extensionConfig } from '../../queries/policies/extension-config.ts';
import { groupIdsOfMember } from '../../queries/policies/group-ids-of-user.ts';
import { RESPONSE_TABLES, GROUP_TABLES } from '../../src/contexts/policies/extension-responses.ts';
import type { TenantReads } from '../../src/platform/kernel/query.ts';
import { TENANT } from '../dsl/given.ts';

const models = new Set<string>(readModels.map(({ name }) => name));

/** The read models that a query reads in an empty database. */
async function tablesReadBy(query: (reads: TenantReads) => Promise<unknown>): Promise<string[]> {
  const read = new Set<string>();
  const note = (sql: string) => {
    for (const [word] of sql.matchAll(/\w+/g)) if (models.has(word)) read.add(word);
  };
  await query({
    tenantId: TENANT,
    rows: async (sql) => (note(sql), []),
    one: async (sql) => (note(sql), undefined),
    figures: async (sql) => (note(sql), undefined),
  });
  return [...read].sort();
}

/**
 * Events that change a named table invalidate a cached result. A table that is read but not named would leave the
 * result stale.
 */
describe('a cached result names every table that it reads', () => {
  it('for the configuration of extensions', async () => {
    expect(await tablesReadBy((reads) => extensionConfig(reads, { groupIds: ['a'] }))).toEqual(
      [...RESPONSE_TABLES].sort(),
    );
  });

  it('for the groups of a member', async () => {
    expect(await tablesReadBy((reads) => groupIdsOfMember(reads, { userId: 'a' }))).toEqual([...GROUP_TABLES]);
  });
});
