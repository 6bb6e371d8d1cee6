import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { getProvisionedPerson } from '../../../../queries/employees/provisioned-people.ts';
import { listScimGroups, membersOfScimGroups } from '../../../../queries/scim/scim-groups.ts';
import { groupsOfScimUsers, listScimUsers } from '../../../../queries/scim/scim-users.ts';
import type { Query, TenantReads } from '../../../../src/platform/kernel/query.ts';
import { startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { newScimClient, SCIM_GROUPS, SCIM_USERS, scimAs, type TestScimClient } from '../../../dsl/scim.ts';

const ROWS = 20_000;
/** Pages of tables and indexes that a look-up may read. All people of the client are on more than a thousand. */
const FEW_PAGES = 200;

/** What identity providers ask before every change: it has to cost the same however many people there are (OP-570). */
const NAMING_USERS = [
  'userName eq "person7@acme.example"',
  'externalId eq "person7"',
  'id eq "00000000-0000-4000-8000-000000000007"',
  'userName eq "person7@acme.example" and active eq true',
  'active eq true and userName eq "person7@acme.example"',
  'userName eq "person7@acme.example" or externalId eq "person7"',
  'urn:ietf:params:scim:schemas:core:2.0:User:userName eq "Person7@Acme.example"',
  'emails.value eq "person7@acme.example"',
  'emails eq "person7@acme.example"',
  'emails[type eq "work" and value eq "person7@acme.example"]',
];
const NAMING_GROUPS = ['externalId eq "group7"', 'id eq "00000000-0000-4000-8000-000000000007"'];
const PERSON = '00000000-0000-4000-8000-000000000007';
const GROUP = '00000000-0000-4000-8000-000000000007';

describe('filters of SCIM that name one resource', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let client: TestScimClient;
  beforeAll(async () => {
    app = await startApp();
    tenant = await app.newTenant();
    client = await newScimClient(tenant);
    const scim = await scimAs(app, client);
    const { body } = await scim.post(SCIM_USERS, { userName: 'a@acme.example', externalId: 'a' });
    await scim.post(SCIM_GROUPS, { displayName: 'group', externalId: 'group', members: [{ value: body.id }] });
    await app.settled();
    await multiply('provisioned_people', {
      user_id: `('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid`,
      created_at: `t.created_at + n * interval '1 second'`,
      modified_at: `t.modified_at + n * interval '1 second'`,
      external_id: `'person' || n`,
      user_name: `'person' || n || '@acme.example'`,
      user_name_folded: `'person' || n || '@acme.example'`,
      profile: `jsonb_build_object('emails', jsonb_build_array(jsonb_build_object('value', 'person' || n || '@acme.example', 'type', 'work')))`,
      emails_folded: `jsonb_build_array('person' || n || '@acme.example')`,
    });
    await multiply('groups', {
      group_id: `('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid`,
      created_at: `t.created_at + n * interval '1 second'`,
      external_id: `'group' || n`,
      name: `'group' || n`,
    });
    await multiply('group_members', {
      group_id: `('00000000-0000-4000-8000-' || lpad((n / 10)::text, 12, '0'))::uuid`,
      user_id: `('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid`,
    });
  });
  afterAll(() => app.close());

  /** Copies the only row of a read model. PostgreSQL knows nothing about the copies yet. */
  async function multiply(model: string, differing: Record<string, string>): Promise<void> {
    const { projector, owner } = app.services.database;
    const { rows } = await projector.query<{ name: string; column: string }>(
      `select c.table_name as name, c.column_name as column from information_schema.columns c
        where c.table_name ~ ('^' || $1 || '_v[0-9]+$') order by c.ordinal_position`,
      [model],
    );
    const columns = rows.map(({ column }) => column);
    const values = columns.map((column) => differing[column] ?? `t.${column}`);
    await owner.query(`alter table ${rows[0]!.name} set (autovacuum_enabled = false)`);
    await projector.query(
      `insert into ${rows[0]!.name} (${columns.join(',')}) select ${values.join(',')} from ${rows[0]!.name} t, generate_series(1, ${ROWS}) n`,
    );
  }

  /** What a query answers, and the pages that all its statements read. */
  async function watching<Input, Answer>(query: Query<Input, Answer>, input: Input) {
    const reads = app.services.reads(tenant.tenantId);
    let pages = 0;
    const explaining = async <Row extends object>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> => {
      const plan = await reads.rows<{ 'QUERY PLAN': string }>(
        `explain (analyze, buffers, timing off) ${sql}`,
        parameters,
      );
      // The first line about buffers is that of the whole statement, functions included.
      const buffers = plan.map((line) => line['QUERY PLAN']).find((line) => line.includes('Buffers:')) ?? '';
      for (const [, count] of buffers.matchAll(/(?:hit|read)=(\d+)/g)) pages += Number(count);
      return reads.rows<Row>(sql, parameters);
    };
    const watched: TenantReads = {
      tenantId: tenant.tenantId,
      rows: explaining,
      one: async (sql, parameters) => (await explaining<never>(sql, parameters))[0],
      figures: async (sql, parameters) => (await explaining<never>(sql, parameters))[0],
    };
    return { answer: await query(watched, input), pages };
  }

  const listing = (filter: string, more: object = {}) => ({
    clientId: client.id,
    filter,
    sortBy: undefined,
    descending: false,
    startIndex: 1,
    count: 100,
    cursor: undefined,
    ...more,
  });

  /** Autovacuum counts the rows about a minute after they were written: an identity provider asks at once. */
  describe.each(['without statistics', 'with statistics'])('%s', (when) => {
    beforeAll(async () => {
      if (when === 'with statistics') await app.services.database.owner.query('analyze');
    });

    it.each(NAMING_USERS)('finds a user by an index: %s', async (filter) => {
      const { answer, pages } = await watching(listScimUsers, listing(filter));
      expect(answer).toMatchObject({ total: 1 });
      expect(pages).toBeLessThan(FEW_PAGES);
    });

    it.each(NAMING_GROUPS)('finds a group by an index: %s', async (filter) => {
      const { answer, pages } = await watching(listScimGroups, listing(filter));
      expect(answer).toMatchObject({ total: 1 });
      expect(pages).toBeLessThan(FEW_PAGES);
    });

    it('counts what a filter names by an index, and sorts it', async () => {
      const filter = NAMING_USERS[0]!;
      const counted = await watching(listScimUsers, listing(filter, { count: 0 }));
      const sorted = await watching(listScimUsers, listing(filter, { sortBy: 'name.familyName' }));
      expect([counted.answer, sorted.answer]).toMatchObject([{ total: 1 }, { total: 1 }]);
      expect(counted.pages + sorted.pages).toBeLessThan(FEW_PAGES);
    });

    it('reads a person, the groups of a person and the members of a group by an index', async () => {
      const source = { kind: 'scim', id: client.id } as const;
      const person = await watching(getProvisionedPerson, { source, userId: PERSON });
      expect(person.answer).toMatchObject({ user_name: 'person7@acme.example' });
      const groups = await watching(groupsOfScimUsers, { clientId: client.id, userIds: [PERSON] });
      expect((groups.answer as ReadonlyMap<string, unknown[]>).size).toBe(0);
      const members = await watching(membersOfScimGroups, { clientId: client.id, groupIds: [GROUP] });
      expect((members.answer as ReadonlyMap<string, unknown[]>).get(GROUP)).toHaveLength(10);
      const all = { person: person.pages, groups: groups.pages, members: members.pages };
      expect(Object.entries(all).filter(([, pages]) => pages >= FEW_PAGES)).toEqual([]);
    });
  });
});
