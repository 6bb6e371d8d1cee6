import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAX_MEMBERS_SHOWN } from '../../../../queries/scim/scim-groups.ts';
import { startApp, type Client, type TestApp } from '../../../dsl/app.ts';
import {
  ENTERPRISE_SCHEMA,
  ERROR_SCHEMA,
  filtered,
  GROUP_SCHEMA,
  newScimClient,
  SCIM_GROUPS,
  SCIM_USERS,
  scimAs,
  USER_SCHEMA,
} from '../../../dsl/scim.ts';

const PEOPLE = [
  {
    userName: 'Ann@acme.example',
    externalId: 'E1',
    displayName: 'Ann',
    title: 'Engineer',
    name: { givenName: 'Ann', familyName: 'Lee' },
    emails: [
      { value: 'ann@acme.example', type: 'work', primary: true },
      { value: 'ann@home.example', type: 'home' },
    ],
    [ENTERPRISE_SCHEMA]: { department: 'Research' },
  },
  {
    userName: 'bob@acme.example',
    externalId: 'e1',
    displayName: 'Bob "Bobby" \\ Ltd',
    active: false,
    name: { givenName: 'Bob', familyName: 'Ng' },
    emails: [{ value: 'bob@acme.example', type: 'home' }],
  },
  {
    userName: 'cat@acme.example',
    displayName: 'Cät',
    title: 'Manager',
    name: { givenName: 'Cat', familyName: 'Od' },
    [ENTERPRISE_SCHEMA]: { department: 'Sales', manager: { value: '7' } },
  },
];
const [ANN, BOB, CAT] = ['Ann@acme.example', 'bob@acme.example', 'cat@acme.example'];

/** RFC 7644 §3.4.2.2, and what is compared without regard to case (RFC 7643 §2.2). */
const FILTERS: readonly (readonly [filter: string, found: readonly (string | undefined)[]])[] = [
  ['userName eq "ANN@acme.example"', [ANN]],
  ['userName Eq "ann@acme.example"', [ANN]],
  ['USERNAME eq "ann@acme.example"', [ANN]],
  [`${USER_SCHEMA}:userName eq "ann@acme.example"`, [ANN]],
  ['externalId eq "E1"', [ANN]],
  ['externalId eq "e1"', [BOB]],
  ['userName ne "ann@acme.example"', [BOB, CAT]],
  ['userName sw "b"', [BOB]],
  ['userName ew "acme.example"', [ANN, BOB, CAT]],
  ['userName co "at@"', [CAT]],
  ['displayName eq "cÄt"', [CAT]],
  ['displayName co "\\"bobby\\" \\\\"', [BOB]],
  ['displayName co "%"', []],
  ['displayName eq "\\u0041nn"', [ANN]],
  ['title pr', [ANN, CAT]],
  ['not (title pr)', [BOB]],
  ['title eq null', [BOB]],
  ['title ne "engineer"', [BOB, CAT]],
  ['active eq true', [ANN, CAT]],
  ['active eq false', [BOB]],
  ['active eq "False"', [BOB]],
  ['active ne true', [BOB]],
  ['name.familyName gt "Lf"', [BOB, CAT]],
  ['name.familyName ge "lee" and name.familyName lt "od"', [ANN, BOB]],
  ['name.familyName le "NG"', [ANN, BOB]],
  ['name pr', [ANN, BOB, CAT]],
  ['emails eq "ann@home.example"', [ANN]],
  ['emails.value eq "ANN@home.example"', [ANN]],
  ['emails.type eq "home"', [ANN, BOB]],
  ['emails pr', [ANN, BOB]],
  ['emails[type eq "work"]', [ANN]],
  ['emails[type eq "home" and value co "home.example"]', [ANN]],
  ['emails[type eq "work" and value eq "ann@home.example"]', []],
  ['emails[type eq "work"].value eq "ann@home.example"', []],
  ['emails[type eq "home"].value eq "ann@home.example"', [ANN]],
  ['emails[not (type eq "home")]', [ANN]],
  ['emails[primary eq true]', [ANN]],
  [`${ENTERPRISE_SCHEMA}:department eq "sales"`, [CAT]],
  [`${ENTERPRISE_SCHEMA}:manager.value eq "7"`, [CAT]],
  [`${ENTERPRISE_SCHEMA}:department pr`, [ANN, CAT]],
  ['userName eq "bob@acme.example" or userName eq "cat@acme.example"', [BOB, CAT]],
  ['title pr and userName sw "a" or userName sw "b"', [ANN, BOB]],
  ['title pr and (userName sw "a" or userName sw "b")', [ANN]],
  ['not (userName sw "a") and not (userName sw "b")', [CAT]],
  ['meta.created gt "2020-01-01T00:00:00Z"', [ANN, BOB, CAT]],
  ['meta.lastModified lt "2020-01-01T00:00:00Z"', []],
  ['groups pr', []],
  ['schemas pr', [ANN, BOB, CAT]],
  ['not (schemas pr)', []],
  ['meta pr', [ANN, BOB, CAT]],
  ['meta.resourceType pr', [ANN, BOB, CAT]],
  ['meta.resourceType eq "User"', [ANN, BOB, CAT]],
  ['meta.resourceType eq "Group"', []],
  ['meta.version eq "W/\\"1\\""', [ANN, BOB, CAT]],
  ['meta.version eq "W/\\"2\\""', []],
  ['not (meta.version eq "W/\\"2\\"")', [ANN, BOB, CAT]],
  ['not (title eq "engineer")', [BOB, CAT]],
  ['not (title eq "engineer" or title eq "manager")', [BOB]],
  ['not (not (title eq "engineer"))', [ANN]],
  ['not (title eq "engineer" and active eq true)', [BOB, CAT]],
  [`schemas eq "${USER_SCHEMA}"`, [ANN, BOB, CAT]],
  [`schemas eq "${ENTERPRISE_SCHEMA}"`, [ANN, CAT]],
  [`schemas eq "${GROUP_SCHEMA}"`, []],
  ['schemas eq "x"', []],
  ['schemas co "enterprise"', [ANN, CAT]],
  ['meta.created gt "2024-02-29T00:00:00+01:00"', [ANN, BOB, CAT]],
  ['userName eq "\' or 1=1 --"', []],
];

const BAD_FILTERS = [
  'userName',
  'userName eq',
  'eq "x"',
  'userName xx "x"',
  '(userName pr',
  'userName pr)',
  'userName eq "x" and',
  'nonsense eq "x"',
  'userName eq x',
  'emails[type eq "work"',
  'emails[]',
  'name eq "x"',
  'active gt true',
  'active eq "x"',
  'meta.created gt "x"',
  'meta.created gt "2026-02-30T00:00:00Z"',
  'meta.created gt "0000-01-01T00:00:00Z"',
  'meta.created le "0001-01-01T00:00:00+14:00"',
  'meta.lastModified eq "9999-12-31T23:59:59-14:00"',
  'meta.created gt "2025-02-29T00:00:00Z"',
  'meta.created gt "2026-01-01T25:00:00Z"',
  'meta eq "x"',
  'meta.location eq "x"',
  'schemas[value eq "x"]',
  'meta.created co "2"',
  'userName.x eq "x"',
  'password eq "x"',
  'urn:x:userName eq "x"',
  '('.repeat(3_000),
  'a'.repeat(9_000),
  Array.from({ length: 150 }, () => 'title pr').join(' or '),
  `${'('.repeat(30)}title pr${')'.repeat(30)}`,
  'userName eq "\\x"',
  'userName eq "unfinished',
  'userName sw "\\u0000"',
  'emails[value co "a\\u0000"]',
  'userName eq "\\ud800"',
  'id eq "\\u0000"',
  'name[givenName eq "x"]',
  "userName eq 'x'",
  'title pr; drop table x',
  '__proto__ eq "x"',
];

describe('lists of SCIM', () => {
  let app: TestApp;
  let scim: Client;
  beforeAll(async () => {
    app = await startApp();
    scim = await scimAs(app, await newScimClient(await app.newTenant()));
    for (const person of PEOPLE)
      expect((await scim.post(SCIM_USERS, { schemas: [USER_SCHEMA], ...person })).status).toBe(201);
  });
  afterAll(() => app.close());

  const names = (body: { Resources: { userName: string }[] }) => body.Resources.map(({ userName }) => userName);

  it.each(FILTERS)('F269, OP-223, RFC 7644 §3.4.2.2: %s', async (filter, found) => {
    const { status, body } = await scim.get(filtered(SCIM_USERS, filter));
    expect([status, body.Resources ? names(body) : body]).toEqual([200, found]);
    expect(body.totalResults).toBe(found.length);
    const searched = await scim.post(`${SCIM_USERS}/.search`, {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'],
      filter,
    });
    expect(searched.body).toEqual(body);
  });

  it.each(BAD_FILTERS)('RFC 7644 §3.12: refuses the filter %s', async (filter) => {
    const { status, body } = await scim.get(filtered(SCIM_USERS, filter));
    expect([status, body]).toMatchObject([400, { schemas: [ERROR_SCHEMA], scimType: 'invalidFilter', status: '400' }]);
  });

  it.each([
    ['', 3, 1, 3],
    ['count=2', 3, 1, 2],
    ['startIndex=3', 3, 3, 1],
    ['startIndex=0&count=1', 3, 1, 1],
    ['startIndex=-7', 3, 1, 3],
    ['startIndex=9', 3, 9, 0],
    ['count=0', 3, 1, 0],
    ['count=-1', 3, 1, 0],
    ['count=5000', 3, 1, 3],
  ])('F267, F268, OP-222, RFC 7644 §3.4.2.4: ?%s', async (query, total, startIndex, items) => {
    const { status, body } = await scim.get(`${SCIM_USERS}?${query}`);
    expect([status, body]).toMatchObject([200, { totalResults: total, startIndex, itemsPerPage: items }]);
    expect(body.Resources.length).toBe(items);
  });

  it.each(['count=x', 'startIndex=1.5', 'count=1e9'])('refuses ?%s', async (query) => {
    const { status, body } = await scim.get(`${SCIM_USERS}?${query}`);
    expect([status, body.scimType]).toEqual([400, 'invalidValue']);
  });

  it.each([
    ['sortBy=userName', [ANN, BOB, CAT]],
    ['sortBy=userName&sortOrder=descending', [CAT, BOB, ANN]],
    ['sortBy=title', [ANN, CAT, BOB]],
    ['sortBy=title&sortOrder=descending', [BOB, CAT, ANN]],
    ['sortBy=name.familyName', [ANN, BOB, CAT]],
    ['sortBy=emails', [ANN, BOB, CAT]],
    ['sortBy=meta.created&sortOrder=descending', [CAT, BOB, ANN]],
    [`sortBy=${ENTERPRISE_SCHEMA}:department`, [ANN, CAT, BOB]],
  ])('RFC 7644 §3.4.2.3: ?%s', async (query, order) => {
    const { body } = await scim.get(`${SCIM_USERS}?${query}`);
    expect(names(body)).toEqual(order);
  });

  it.each(['sortBy=nonsense', 'sortBy=name', 'sortBy=a.b.c', 'sortBy=password', 'sortBy=userName&cursor='])(
    'refuses ?%s',
    async (query) => {
      expect((await scim.get(`${SCIM_USERS}?${query}`)).status).toBe(400);
    },
  );

  it.each([
    ['attributes=userName', ['schemas', 'id', 'userName']],
    ['attributes=USERNAME,name.givenName', ['schemas', 'id', 'userName', 'name']],
    [`attributes=${ENTERPRISE_SCHEMA}:department`, ['schemas', 'id', ENTERPRISE_SCHEMA]],
    [`attributes=${ENTERPRISE_SCHEMA}`, ['schemas', 'id', ENTERPRISE_SCHEMA]],
    ['attributes=nonsense', ['schemas', 'id']],
    [
      'excludedAttributes=name,emails,meta,id',
      ['schemas', 'id', 'userName', 'externalId', 'displayName', 'title', 'active', ENTERPRISE_SCHEMA],
    ],
  ])('RFC 7644 §3.4.2.5, §3.9: ?%s', async (query, shown) => {
    const { body } = await scim.get(filtered(SCIM_USERS, 'userName eq "ann@acme.example"', `&${query}`));
    expect(Object.keys(body.Resources[0]).sort()).toEqual([...shown].sort());
    const { id } = body.Resources[0];
    expect(Object.keys((await scim.get(`${SCIM_USERS}/${id}?${query}`)).body).sort()).toEqual([...shown].sort());
    if (query.includes('name.givenName')) expect(body.Resources[0].name).toEqual({ givenName: 'Ann' });
    if (query.endsWith(':department')) expect(body.Resources[0][ENTERPRISE_SCHEMA]).toEqual({ department: 'Research' });
  });

  it('shows a sub-attribute of each value, and hides one', async () => {
    const ann = 'userName eq "ann@acme.example"';
    const only = (await scim.get(filtered(SCIM_USERS, ann, '&attributes=emails.value'))).body.Resources[0];
    expect(only.emails).toEqual([{ value: 'ann@acme.example' }, { value: 'ann@home.example' }]);
    const without = (await scim.get(filtered(SCIM_USERS, ann, '&excludedAttributes=emails.value,name.givenName'))).body
      .Resources[0];
    expect([without.emails, without.name]).toEqual([
      [{ type: 'work', primary: true }, { type: 'home' }],
      { familyName: 'Lee' },
    ]);
  });

  it('RFC 9865: pages by cursor, which later creations do not shift', async () => {
    const other = await scimAs(app, await newScimClient(await app.newTenant()));
    const make = (name: string) => other.post(SCIM_USERS, { schemas: [USER_SCHEMA], userName: name });
    for (const each of ['1', '2', '3', '4', '5']) await make(each);
    const first = (await other.get(`${SCIM_USERS}?cursor&count=2`)).body;
    expect([names(first), first.totalResults, first.startIndex]).toEqual([['1', '2'], 5, undefined]);
    const byIndex = (await other.get(`${SCIM_USERS}?startIndex=1&count=2`)).body;
    expect(names(byIndex)).toEqual(['1', '2']);
    await other.delete(`${SCIM_USERS}/${first.Resources[0].id}`);
    await make('6');
    const seen: string[] = [];
    let cursor: string | undefined = first.nextCursor;
    while (cursor !== undefined) {
      const page = (await other.get(`${SCIM_USERS}?cursor=${cursor}&count=2`)).body;
      seen.push(...names(page));
      cursor = page.nextCursor;
    }
    expect(seen).toEqual(['3', '4', '5', '6']);
    for (const wrong of ['nonsense', Buffer.from('[]').toString('base64url'), 'a'.repeat(500)]) {
      const refused = await other.get(`${SCIM_USERS}?cursor=${wrong}`);
      expect([refused.status, refused.body.scimType]).toEqual([400, 'invalidCursor']);
    }
    const elsewhere = await other.get(filtered(SCIM_USERS, 'title pr', `&cursor=${first.nextCursor as string}`));
    expect([elsewhere.status, elsewhere.body.scimType]).toEqual([400, 'invalidCursor']);
  });

  it('F270: groups take the same parameters', async () => {
    const { body: ann } = await scim.get(filtered(SCIM_USERS, 'userName eq "ann@acme.example"'));
    const id = ann.Resources[0].id as string;
    const made = await scim.post(SCIM_GROUPS, {
      schemas: [],
      displayName: 'North',
      externalId: 'g',
      members: [{ value: id }],
    });
    await scim.post(SCIM_GROUPS, { schemas: [], displayName: 'South' });
    expect(made.status).toBe(201);
    const found = async (filter: string) =>
      (await scim.get(filtered(SCIM_GROUPS, filter))).body.Resources.map(
        ({ displayName }: { displayName: string }) => displayName,
      );
    for (const [filter, names1] of [
      ['displayName eq "north"', ['North']],
      ['externalId eq "g"', ['North']],
      [`members eq "${id}"`, ['North']],
      [`members.value eq "${id}"`, ['North']],
      [`id eq "${made.body.id as string}" and members eq "${id}"`, ['North']],
      [`members[value eq "${id}"]`, ['North']],
      ['members eq "nonsense"', []],
      ['members pr', ['North']],
      ['not (members pr)', ['South']],
    ] as const)
      expect([filter, await found(filter)]).toEqual([filter, names1]);
    const page = (await scim.get(`${SCIM_GROUPS}?startIndex=2&count=1&sortBy=displayName&excludedAttributes=members`))
      .body;
    expect(page).toMatchObject({
      totalResults: 2,
      startIndex: 2,
      itemsPerPage: 1,
      Resources: [{ displayName: 'South' }],
    });
    expect((await scim.get(filtered(SCIM_USERS, 'groups.display eq "north"'))).body.totalResults).toBe(1);
  });
});

describe('groups with more members than one response holds', () => {
  let app: TestApp;
  beforeAll(async () => void (app = await startApp()));
  afterAll(() => app.close());

  it('are listed without their members, and refused with them', async () => {
    const tenant = await app.newTenant();
    const client = await newScimClient(tenant);
    const scim = await scimAs(app, client);
    const { body } = await scim.post(SCIM_GROUPS, { schemas: [GROUP_SCHEMA], displayName: 'Everybody' });
    await app.settled();
    await app.services.database.owner.query(
      `insert into group_members (tenant_id, group_id, user_id, added_at)
       select $1, $2, gen_random_uuid(), now() from generate_series(1, $3)`,
      [tenant.tenantId, body.id, MAX_MEMBERS_SHOWN + 1],
    );
    await app.services.database.owner.query(
      `insert into provisioned_people
         (tenant_id, source_kind, source_id, user_id, user_name, user_name_folded, email, email_folded, emails_folded,
          display_name, is_active, version, created_at, modified_at)
       select tenant_id, 'scim', $2, user_id, 'x', 'x', 'x', 'x', '[]', 'x', true, 1, now(), now()
         from group_members where group_id = $1`,
      [body.id, client.id],
    );
    for (const path of [SCIM_GROUPS, `${SCIM_GROUPS}/${body.id as string}`]) {
      const refused = await scim.get(path);
      expect([refused.status, refused.body.scimType]).toEqual([400, 'tooMany']);
      expect((await scim.get(`${path}?excludedAttributes=members`)).status).toBe(200);
    }
  });
});
