import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listScimGroups } from '../../../../queries/scim/scim-groups.ts';
import { listScimUsers } from '../../../../queries/scim/scim-users.ts';
import type { Query, TenantReads } from '../../../../src/platform/kernel/query.ts';
import { startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { newScimClient, SCIM_GROUPS, SCIM_USERS, scimAs, type TestScimClient } from '../../../dsl/scim.ts';

const ROWS = 20_000;

/** What identity providers ask before every change: it has to cost the same however many people there are (OP-570). */
const NAMING_USERS = [
  'userName eq "person7@acme.example"',
  'externalId eq "person7"',
  'id eq "00000000-0000-4000-8000-000000000007"',
  'userName eq "person7@acme.example" and active eq true',
  'userName eq "person7@acme.example" or externalId eq "person7"',
  'emails.value eq "person7@acme.example"',
  'emails eq "person7@acme.example"',
  'emails[type eq "work" and value eq "person7@acme.example"]',
];
const NAMING_GROUPS = ['externalId eq "group7"', 'id eq "00000000-0000-4000-8000-000000000007"'];

describe('filters of SCIM that name one resource', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let client: TestScimClient;
  beforeAll(async () => {
    app = await startApp();
    tenant = await app.newTenant();
    client = await newScimClient(tenant);
    const scim = await scimAs(app, client);
    await scim.post(SCIM_USERS, { userName: 'person@acme.example', externalId: 'person' });
    await scim.post(SCIM_GROUPS, { displayName: 'group', externalId: 'group' });
    await app.settled();
    await multiply('provisioned_people', {
      user_id: `('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid`,
      external_id: `'person' || n`,
      user_name: `'person' || n || '@acme.example'`,
      user_name_folded: `'person' || n || '@acme.example'`,
      profile: `jsonb_build_object('emails', jsonb_build_array(jsonb_build_object('value', 'person' || n || '@acme.example', 'type', 'work')))`,
      emails_folded: `jsonb_build_array('person' || n || '@acme.example')`,
    });
    await multiply('groups', {
      group_id: `('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid`,
      external_id: `'group' || n`,
      name: `'group' || n`,
    });
  });
  afterAll(() => app.close());

  /** Copies the only row of a read model, and takes statistics as PostgreSQL does within a minute. */
  async function multiply(model: string, differing: Record<string, string>): Promise<void> {
    const { projector } = app.services.database;
    const { rows } = await projector.query<{ name: string; column: string }>(
      `select c.table_name as name, c.column_name as column from information_schema.columns c
        where c.table_name ~ ('^' || $1 || '_v[0-9]+$') order by c.ordinal_position`,
      [model],
    );
    const columns = rows.map(({ column }) => column);
    const values = columns.map((column) => differing[column] ?? `t.${column}`);
    await projector.query(
      `insert into ${rows[0]!.name} (${columns.join(',')}) select ${values.join(',')} from ${rows[0]!.name} t, generate_series(1, ${ROWS}) n`,
    );
    await projector.query(`analyze ${rows[0]!.name}`);
  }

  /** Every statement that a query runs, with the rows that its plan reads and drops. */
  async function droppedBy(list: typeof listScimUsers | typeof listScimGroups, filter: string) {
    const reads = app.services.reads(tenant.tenantId);
    const dropped: number[] = [];
    const explaining = async <Row extends object>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> => {
      const plan = await reads.rows<{ 'QUERY PLAN': string }>(`explain (analyze, timing off) ${sql}`, parameters);
      const lines = plan.map((line) => line['QUERY PLAN']);
      for (const line of lines) dropped.push(Number(/Rows Removed by [^:]+: (\d+)/.exec(line)?.[1] ?? 0));
      return reads.rows<Row>(sql, parameters);
    };
    const watched: TenantReads = {
      tenantId: tenant.tenantId,
      rows: explaining,
      one: async (sql, parameters) => (await explaining<never>(sql, parameters))[0],
      figures: async (sql, parameters) => (await explaining<never>(sql, parameters))[0],
    };
    const request = { filter, sortBy: undefined, descending: false, startIndex: 1, count: 100, cursor: undefined };
    const page = await (list as Query<object, object>)(watched, { clientId: client.id, ...request });
    return { page, dropped: dropped.reduce((sum, each) => sum + each, 0) };
  }

  it.each(NAMING_USERS)('finds a user by an index: %s', async (filter) => {
    const { page, dropped } = await droppedBy(listScimUsers, filter);
    expect(page).toMatchObject({ total: 1 });
    expect(dropped).toBeLessThan(100);
  });

  it.each(NAMING_GROUPS)('finds a group by an index: %s', async (filter) => {
    const { page, dropped } = await droppedBy(listScimGroups, filter);
    expect(page).toMatchObject({ total: 1 });
    expect(dropped).toBeLessThan(100);
  });
});
