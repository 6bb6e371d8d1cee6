import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { PreparedStatementClient } from '../../../src/platform/database/prepared-statement-client.ts';
import { freshDatabase } from '../../dsl/database.ts';

describe('a client of prepared statements', () => {
  let fresh: Awaited<ReturnType<typeof freshDatabase>>;
  let client: PreparedStatementClient;
  beforeAll(async () => {
    fresh = await freshDatabase();
    client = new PreparedStatementClient({ ...fresh.config, pipeline: true } as never);
    await client.connect();
    await client.query('create table things (id int primary key, name text, made timestamptz, more jsonb)');
  });
  afterEach(() => client.query('truncate things'));
  afterAll(async () => {
    await client.end();
    await fresh.drop();
  });

  const insert = (id: number, name: string | null) =>
    client.query({
      name: 'insert',
      text: 'insert into things (id, name, more) values ($1, $2, $3)',
      values: [id, name, { of: id }],
    });
  const select = (id: number) =>
    client.query({
      name: 'select',
      text: 'select id, name, more from things where id >= $1 order by id',
      values: [id],
    });
  /** Descriptions that the connection requested meanwhile. */
  const describing = () =>
    vi.spyOn((client as unknown as { connection: { describe(what: unknown): void } }).connection, 'describe');

  it('reads rows by names and types, including nulls, with their count', async () => {
    expect((await insert(1, 'first')).rowCount).toBe(1);
    await insert(2, null);
    for (let time = 0; time < 3; time += 1) {
      const { rows, rowCount, command } = await select(1);
      expect({ rows, rowCount, command }).toEqual({
        rows: [
          { id: 1, name: 'first', more: { of: 1 } },
          { id: 2, name: null, more: { of: 2 } },
        ],
        rowCount: 2,
        command: 'SELECT',
      });
    }
    expect((await select(3)).rows).toEqual([]);
  });

  it('describes a statement once', async () => {
    await Promise.all([insert(1, 'a'), select(1)]);
    const described = describing();
    await Promise.all([insert(2, 'b'), select(1), select(2)]);
    expect(described).not.toHaveBeenCalled();
    described.mockRestore();
  });

  it('keeps concurrent responses separate if one of them fails', async () => {
    await Promise.all([insert(1, 'a'), select(1)]);
    const [again, found, none] = await Promise.allSettled([insert(1, 'b'), select(1), select(2)]);
    expect(again).toMatchObject({ status: 'rejected', reason: { code: '23505' } });
    expect(found).toMatchObject({ status: 'fulfilled', value: { rows: [{ id: 1, name: 'a' }] } });
    expect(none).toMatchObject({ status: 'fulfilled', value: { rows: [] } });
  });

  it('fails if the columns of a statement have changed, and reads the new ones after a reset', async () => {
    const all = () => client.query({ name: 'all', text: 'select * from things' });
    await insert(1, 'a');
    expect(Object.keys((await all()).rows[0] as object)).toEqual(['id', 'name', 'made', 'more']);
    await client.query('alter table things add column late int default 7');
    await expect(all()).rejects.toMatchObject({ code: '0A000' });
    await client.query('deallocate all');
    (client as unknown as { connection: { parsedStatements: object } }).connection.parsedStatements = {};
    expect((await all()).rows).toMatchObject([{ id: 1, late: 7 }]);
  });

  it('reports a row that it cannot read, and continues', async () => {
    const broken = { name: 'broken', text: 'select made from things order by id', values: [] };
    const spy = vi.spyOn(client, 'getTypeParser').mockReturnValue((() => {
      throw new TypeError('no such moment');
    }) as never);
    await client.query(`insert into things (id, made) values (1, '2026-01-01')`);
    await expect(client.query(broken)).rejects.toThrow('no such moment');
    spy.mockRestore();
    expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  });

  it('leaves unnamed statements to the driver', async () => {
    expect((await client.query('select $1::int as one', [1])).rows).toEqual([{ one: 1 }]);
    expect((await client.query({ text: 'select $1::int', values: [1], rowMode: 'array' })).rows).toEqual([[1]]);
  });
});
