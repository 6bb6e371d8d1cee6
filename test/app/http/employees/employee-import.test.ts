import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';

const USERS = '/api/v1/admin/users';
const IMPORT = `${USERS}/import`;
const HEADER = 'email,displayName,department,jobTitle';

describe('the import of employees', () => {
  let app: TestApp;
  let acme: TestTenant;
  beforeAll(async () => {
    app = await sharedApp();
    acme = await app.newTenant();
  });
  afterAll(() => app.close());

  async function send(tenant: TestTenant, parts: Record<string, string | Blob>) {
    const form = new FormData();
    for (const [name, value] of Object.entries(parts))
      form.append(name, value as Blob, ...(typeof value === 'string' ? [] : [`${name}.csv`]));
    const answer = await fetch(app.url + IMPORT, {
      method: 'POST',
      headers: { authorization: `Bearer ${tenant.token}` },
      body: form,
    });
    return {
      status: answer.status,
      body: (await answer.json()) as {
        rows: { row: number; outcome: string }[];
        updated: number;
        skipped: number;
        fields?: unknown;
      },
    };
  }
  const file = (...lines: (string | Uint8Array<ArrayBuffer>)[]) => new Blob(lines.flatMap((line) => [line, '\r\n']));
  const importing = (tenant: TestTenant, ...lines: string[]) => send(tenant, { file: file(...lines) });
  const address = () => `${randomUUID()}@acme.example`;
  const all = async (tenant: TestTenant) => (await tenant.admin.get(`${USERS}?page_size=100`)).body;

  it('adds new employees and changes known ones', async () => {
    const [known, fresh] = [address(), address()];
    await acme.admin.post(USERS, {
      email: known,
      displayName: 'Old Name',
      department: 'Research',
      jobTitle: 'Analyst',
    });
    const answer = await importing(acme, HEADER, `${known.toUpperCase()},"New, Name",,Lead`, `${fresh},Bo,Sales,`);
    const { users } = await all(acme);
    const idOf = (email: string) => users.find((one: { email: string }) => one.email === email).id;
    const rows = [
      { row: 2, outcome: 'updated', userId: idOf(known) },
      { row: 3, outcome: 'imported', userId: idOf(fresh) },
    ];
    expect([answer.status, answer.body]).toEqual([
      200,
      { imported: 1, updated: 1, skipped: 0, total: 2, errors: [], rows },
    ]);
    // An empty cell keeps the stored value.
    expect(users.find(({ email }: { email: string }) => email === known)).toMatchObject({
      displayName: 'New, Name',
      department: 'Research',
      jobTitle: 'Lead',
      source: 'manual',
    });
    expect(users.find(({ email }: { email: string }) => email === fresh)).toMatchObject({
      displayName: 'Bo',
      department: 'Sales',
      jobTitle: null,
      source: 'import',
    });
  });

  it('accepts valid rows beside invalid ones, and names those by their number', async () => {
    const tenant = await app.newTenant();
    const twice = address();
    const answer = await importing(
      tenant,
      HEADER,
      `${twice},Ann,,`,
      'nobody,Bo,,',
      '',
      `${address()},,,`,
      `${twice.toUpperCase()},Ann Again,,`,
      `${address()},"C"x,,`,
      `${address()},Dee,,,one more`,
      `${address()},Eve`,
    );
    expect(answer.body.rows.map(({ row, outcome }) => [row, outcome])).toEqual([
      [2, 'imported'],
      [3, 'refused'],
      [5, 'refused'],
      [6, 'refused'],
      [7, 'refused'],
      [8, 'refused'],
      [9, 'imported'],
    ]);
    expect(answer.body).toMatchObject({
      imported: 2,
      updated: 0,
      skipped: 5,
      total: 7,
      errors: [
        { row: 3, error: 'validation failed: email: is not a valid email' },
        { row: 5, error: 'validation failed: displayName: is required' },
        { row: 6, error: 'validation failed: email: is already in an earlier row' },
        { row: 7, error: expect.stringContaining('quotation mark') },
        { row: 8, error: expect.stringContaining('more cells') },
      ],
    });
    expect((await all(tenant)).total).toBe(2);
  });

  it('rejects the row of a cell that no column can store, and continues with the others', async () => {
    const tenant = await app.newTenant();
    const answer = await importing(
      tenant,
      HEADER,
      `${address()},An\u0000n,,`,
      `${address()},Bo,Sa\u0001les,`,
      `a\u0000${address()},Cy,,`,
      `${address()},Di,,Lead`,
      `${address()},"E\nve",,`,
    );
    expect(answer).toMatchObject({
      status: 200,
      body: {
        imported: 1,
        errors: [
          { row: 2, error: 'validation failed: displayName: contains control characters' },
          { row: 3, error: 'validation failed: department: contains control characters' },
          { row: 4, error: 'validation failed: email: is not a valid email' },
          { row: 6, error: 'validation failed: displayName: contains control characters' },
        ],
      },
    });
    await app.settled();
    expect((await all(tenant)).total).toBe(1);
  });

  it('names all that is wrong with a row', async () => {
    const { body } = await importing(await app.newTenant(), HEADER, `nobody,Bo,Sa\u0001les,`);
    expect(body).toMatchObject({
      errors: [
        {
          row: 2,
          error: 'validation failed: email: is not a valid email; department: contains control characters',
        },
      ],
    });
  });

  it.each([
    ['email,displayName,E-Mail', 'email'],
    ['email,Display Name,display_name', 'displayName'],
  ])('refuses a file whose header repeats a column: %s', async (header, column) => {
    const tenant = await app.newTenant();
    const refused = await importing(tenant, header, `${address()},Ann,${address()}`);
    expect(refused).toMatchObject({
      status: 400,
      body: { fields: [{ field: 'file', message: `has the column ${column} more than once` }] },
    });
    expect((await all(tenant)).total).toBe(0);
  });

  it('changes nothing if no field differs', async () => {
    const email = address();
    await importing(acme, HEADER, `${email},Ann,,`);
    expect((await importing(acme, 'E-Mail,Display Name', `${email},`)).body).toMatchObject({
      imported: 0,
      updated: 0,
      skipped: 1,
      total: 1,
      errors: [],
      rows: [{ row: 2, outcome: 'unchanged' }],
    });
  });

  it('accepts many rows', async () => {
    const tenant = await app.newTenant();
    const lines = Array.from({ length: 300 }, (_, at) => `person-${at}@acme.example,Person ${at},,`);
    expect((await importing(tenant, HEADER, ...lines)).body).toMatchObject({ imported: 300, errors: [] });
    expect((await importing(tenant, HEADER, ...lines)).body).toMatchObject({
      imported: 0,
      updated: 0,
      skipped: 300,
      errors: [],
    });
    expect((await all(tenant)).total).toBe(300);
  });

  it('writes no event for a row that repeats what is stored', async () => {
    const tenant = await app.newTenant();
    const events = async () =>
      (
        await app.services.database.owner.query(
          `select from events where type = 'EmployeeUpdated' and tenant_id = $1`,
          [tenant.tenantId],
        )
      ).rowCount;
    const [ann, bo] = [address(), address()];
    await importing(tenant, HEADER, `${ann},Ann,Sales,Lead`, `${bo},Bo,,`);
    const again = await importing(tenant, HEADER, `${ann.toUpperCase()},Ann,Sales,`, `${bo},Bo,,Clerk`);
    expect(again.body.rows.map(({ outcome }: { outcome: string }) => outcome)).toEqual(['unchanged', 'updated']);
    expect([again.body.updated, again.body.skipped, await events()]).toEqual([1, 1, 1]);
    const third = await importing(tenant, HEADER, `${ann},Ann,Sales,Lead`, `${bo},Bo,,Clerk`);
    expect([third.body.updated, third.body.skipped, await events()]).toEqual([0, 2, 1]);
  });

  it('is refused as a whole if the license has not enough seats', async () => {
    const tenant = await app.newTenant({ license: { maxUsers: 2 } });
    const lines = Array.from({ length: 3 }, (_, at) => `person-${at}@acme.example,Person,,`);
    const answer = await importing(tenant, HEADER, ...lines);
    expect([answer.status, answer.body]).toEqual([
      403,
      expect.objectContaining({ error: 'license user limit reached' }),
    ]);
    expect((await all(tenant)).total).toBe(0);
    expect((await importing(tenant, HEADER, ...lines.slice(1))).body).toMatchObject({ imported: 2 });
    expect((await importing(tenant, HEADER, ...lines.slice(1))).body).toMatchObject({ updated: 0, skipped: 2 });
  });

  it('needs the part named file', async () => {
    expect((await send(acme, { other: 'x' })).status).toBe(400);
    expect((await send(acme, { data: file(HEADER) })).status).toBe(400);
    expect((await acme.admin.send('POST', IMPORT)).status).toBe(400);
    const { status, body } = await acme.admin.post(IMPORT, {});
    expect([status, body.fields]).toEqual([415, [{ field: 'Content-Type', message: 'must be multipart/form-data' }]]);
  });

  it.each([
    ['without a header', [`${randomUUID()}@acme.example,Ann,,`]],
    ['of nothing', ['']],
    ['without e-mails', ['displayName', 'Ann']],
  ])('rejects a file %s', async (_what, lines) => {
    expect((await importing(acme, ...lines)).status).toBe(400);
  });

  it('rejects a file that is not text, or too large', async () => {
    expect((await send(acme, { file: file(HEADER, new Uint8Array([0xff, 0xfe, 0x41])) })).status).toBe(400);
    const large = await send(acme, { file: file(HEADER, 'x'.repeat(6 * 1024 * 1024)) });
    expect([large.status, large.body.fields]).toEqual([413, [{ field: 'file', message: 'is too large' }]]);
    for (const rows of [10_001, 100_000]) {
      const { status, body } = await send(acme, {
        file: file([HEADER, ...Array.from({ length: rows }, (_, n) => `p${n}@acme.example,P,,`)].join('\r\n')),
      });
      expect([status, body]).toEqual([413, expect.objectContaining({ error: 'file: must have at most 10000 rows' })]);
      expect(body.fields).toEqual([{ field: 'file', message: 'must have at most 10000 rows' }]);
    }
    expect((await acme.admin.get(`${USERS}?search=p1@acme.example`)).body.total).toBe(0);
  });

  it('rejects a header of many columns: each row would be read in that width', async () => {
    const answer = await importing(acme, `email${',c'.repeat(100_000)}`, ...Array.from({ length: 10_000 }, () => 'x'));
    expect(answer).toMatchObject({ status: 413, body: { error: 'file: must have at most 100 columns' } });
    const other = address();
    expect(
      await importing(acme, `note,email${',c'.repeat(97)},Display Name`, `kept,${other}${',x'.repeat(97)},Ada`),
    ).toMatchObject({ status: 200 });
    expect((await all(acme)).users).toContainEqual(expect.objectContaining({ email: other, displayName: 'Ada' }));
  });

  it('survives a truncated body', async () => {
    const headers = { 'content-type': 'multipart/form-data; boundary=zzz' };
    const raw = '--zzz\r\ncontent-disposition: form-data; name="file"; filename="a.csv"\r\n\r\nemail,displayName\r\n';
    expect((await acme.admin.send('POST', IMPORT, { raw, headers })).status).toBe(400);
    expect(
      (await acme.admin.send('POST', IMPORT, { raw, headers: { 'content-type': 'multipart/form-data' } })).status,
    ).toBe(400);
    expect((await acme.admin.send('POST', IMPORT, { raw: 'nonsense', headers })).status).toBe(400);
  });
});
