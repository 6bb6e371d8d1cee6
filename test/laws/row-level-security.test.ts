import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../dsl/app.ts';

/** The progress of every read model, and the retired master keys, for `/health`: they belong to no tenant. */
const NOBODYS = ['cursors', 'retired_master_keys'];

describe('a query that forgets its tenant', () => {
  let app: TestApp;
  let owner: pg.Client;
  beforeAll(async () => {
    app = await startApp();
    await app.newTenant();
    await app.settled();
    owner = new pg.Client(app.services.database.config);
    await owner.connect();
  });
  afterAll(async () => {
    await owner.end();
    await app.close();
  });

  const relations = async (kinds: string) =>
    (
      await owner.query<{ name: string }>(
        `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = any($1::"char"[]) order by 1`,
        [kinds.split('')],
      )
    ).rows.map(({ name }) => name);
  const as = async <T>(role: string, work: () => Promise<T>): Promise<T> => {
    await owner.query(`begin; set local role ${role}; set local castellan.tenant = ''`);
    try {
      return await work();
    } finally {
      await owner.query('rollback');
    }
  };

  it('is limited by row-level security on every table', async () => {
    const { rows } = await owner.query(
      `select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relrowsecurity`,
    );
    expect(rows).toEqual([]);
    expect((await relations('r')).length).toBeGreaterThan(20);
  });

  it("calls no function that would use a temporary table of the caller instead of the application's", async () => {
    const { rows } = await owner.query<{ name: string; settings: string[] | null }>(
      `select proname as name, proconfig as settings from pg_proc where pronamespace = 'public'::regnamespace and prosecdef order by 1`,
    );
    expect(rows.filter(({ settings }) => !settings?.includes('search_path=public, pg_temp'))).toEqual([]);
    expect(rows.map(({ name }) => name)).toContain('append_events');
  });

  it('gains no rights through a view', async () => {
    const { rows } = await owner.query(
      `select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'v' and not coalesce('security_invoker=true' = any(reloptions), false)`,
    );
    expect(rows).toEqual([]);
    expect(await relations('m')).toEqual([]);
  });

  it.each(['castellan_reads', 'castellan_service'])('finds nothing as %s, in any table or view', async (role) => {
    for (const name of (await relations('rvp')).filter((one) => !NOBODYS.includes(one))) {
      const found = await as(role, () =>
        owner.query<{ n: number }>(`select count(*)::int as n from "${name}"`).then(
          ({ rows }) => rows[0]!.n,
          (error: { code?: string }) => (error.code === '42501' ? 0 : Promise.reject(error)),
        ),
      );
      expect([name, found]).toEqual([name, 0]);
    }
    // The checks would pass in an empty database too.
    const { rows } = await owner.query<{ n: number }>('select count(*)::int as n from admin_users');
    expect(rows[0]!.n).toBeGreaterThan(0);
  });

  it('cannot change or create rows either', async () => {
    for (const name of (await relations('rp')).filter((one) => !NOBODYS.includes(one))) {
      const changed = await as('castellan_service', () =>
        owner.query(`delete from "${name}"`).then(
          ({ rowCount }) => rowCount,
          (error: { code?: string }) => error.code,
        ),
      );
      expect([name, [0, '42501'].includes(changed as never)]).toEqual([name, true]);
    }
  });

  it.each([
    ['castellan_store', `update events set data = '{}'`],
    ['castellan_store', 'delete from events'],
    ['castellan_store', 'truncate events'],
    ['castellan_store', `insert into events select * from events limit 1`],
    ['castellan_store', 'delete from claims'],
    ['castellan_service', 'delete from events'],
    ['castellan_service', `update events set type = 'x'`],
    ['castellan_projector', 'delete from events'],
    ['castellan_projector', `update events set type = 'x'`],
    ['castellan_reads', 'select from secrets'],
    ['castellan_reads', 'select from events'],
    ['castellan_projector', 'select from secrets'],
    ['castellan_projector', 'select from person_keys'],
    ['castellan_store', 'select from secrets'],
  ])('as %s may not: %s', async (role, statement) => {
    await expect(as(role, () => owner.query(statement))).rejects.toMatchObject({ code: '42501' });
  });
});
