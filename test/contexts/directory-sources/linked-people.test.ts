import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { linkedByExternalId, type LinkedPersonRow } from '../../../queries/employees/linked-people.ts';
import type { TenantReads } from '../../../src/platform/kernel/query.ts';
import { orThrow } from '../../../src/platform/kernel/failure.ts';
import { startApp, type TestApp } from '../../dsl/app.ts';
import { countingRows } from '../../dsl/rows-read.ts';

const PEOPLE = 2_000;

describe('the people of a page whom a source has linked', () => {
  let app: TestApp;
  const tenantId = randomUUID();
  const source = { kind: 'directory', id: randomUUID() } as const;
  beforeAll(async () => {
    app = await startApp();
    await app.services.database.owner.query(
      `insert into provisioned_people (tenant_id, source_kind, source_id, user_id, external_id, user_name, user_name_folded,
         email, email_folded, emails_folded, display_name, is_active, version, created_at, modified_at)
       select $1, 'directory', s, gen_random_uuid(), 'x' || n, 'u' || n, 'u' || n, 'u@acme.example', 'u@acme.example', '[]',
              'Ada', true, 1, now(), now()
         from unnest($2::uuid[]) s, generate_series(1, $3) n`,
      [tenantId, [source.id, randomUUID()], PEOPLE],
    );
  });
  afterAll(() => app.close());

  it('are looked up one by one, also in a table without statistics', async () => {
    const { result, rows } = await countingRows(app, tenantId, 'provisioned_people', async (client) => {
      const reads = {
        rows: async (sql: string, parameters: readonly unknown[]) =>
          (await client.query<LinkedPersonRow>(sql, [tenantId, ...parameters])).rows,
      } as unknown as TenantReads;
      return orThrow(await linkedByExternalId(reads, { source, externalIds: ['x7', 'x1999', 'y'] }));
    });
    expect(result.map(({ userName }) => userName)).toEqual(['u7', 'u1999']);
    expect(rows).toBe(2);
  });
});
