import pg from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { freshDatabase } from './database.ts';

describe('a fresh database', async () => {
  const mine = await freshDatabase();
  const other = await freshDatabase();
  afterAll(() => Promise.all([mine.drop(), other.drop()]));

  const ask = async (config: pg.ClientConfig, sql: string) => {
    const client = new pg.Client(config);
    await client.connect();
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  };

  it('is migrated and the caller is its superuser', async () => {
    const [row] = await ask(
      mine.config,
      `select rolsuper, castellan_tenant() as tenant from pg_roles where rolname = current_user`,
    );
    expect(row).toEqual({ rolsuper: true, tenant: null });
  });

  it('shares nothing with another one', async () => {
    await ask(mine.config, 'create table mine(i int)');
    await expect(ask(other.config, 'select * from mine')).rejects.toThrow('does not exist');
  });

  it('is dropped despite open connections', async () => {
    const third = await freshDatabase({ empty: true });
    const client = new pg.Client(third.config);
    client.on('error', () => undefined);
    await client.connect();
    await third.drop();
    await expect(ask(third.config, 'select 1')).rejects.toThrow('does not exist');
  });
});
