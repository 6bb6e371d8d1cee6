import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newLogger } from '../../../src/platform/observability/logger.ts';
import { openDatabase, type Database } from '../../../src/platform/database/database.ts';
import { flag, id, integer, text } from '../../../src/platform/kernel/read-model.ts';
import { createTable, TableStatements, type TableShape } from '../../../src/platform/projector/table.ts';
import { freshDatabase, type FreshDatabase } from '../../dsl/database.ts';

/** Indexes that begin like the key: a look-up through one of them would read all rows of a holder or a source. */
const sharing: TableShape = {
  name: 'shares',
  columns: { kind: text, holder: id, person: id, number: integer, mail: text },
  key: ['kind', 'holder', 'person'],
  indexes: [['person'], ['kind', 'number'], ['kind', 'holder', 'number'], ['kind', 'holder', 'mail']],
};

/** An index of few different values is smaller than the primary key, and so looks cheaper without statistics. */
const shape: TableShape = {
  name: 'hosts',
  columns: { host: text, provider: text, is_known: flag },
  key: ['host'],
  indexes: [['provider', 'is_known']],
};

describe('loading the rows of a page', () => {
  let fresh: FreshDatabase;
  let database: Database;
  let client: pg.PoolClient;
  beforeAll(async () => {
    fresh = await freshDatabase();
    database = openDatabase(fresh.config, newLogger('silent'));
    client = await database.projector.connect();
  });
  afterAll(async () => {
    client.release();
    await database.close();
    await fresh.drop();
  });

  it('uses the primary key, also in a table without statistics', async () => {
    await client.query(createTable(shape, 'hosts_v1'));
    await client.query(
      `insert into hosts_v1 select gen_random_uuid(), 'host ' || n, 'none', false from generate_series(1, 1) t(n)`,
    );
    await client.query(
      `insert into hosts_v1 select tenant_id, 'another host ' || n, 'none', false from hosts_v1, generate_series(1, 1500) t(n)`,
    );
    const { load } = new TableStatements(shape, 'hosts_v1');
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain ${load.replace('$1', `'[]'`)}`);
    expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toContain('using hosts_v1_pkey');
  });

  it('uses the primary key where other indexes begin like it, also in an empty table', async () => {
    await client.query(createTable(sharing, 'shares_v1'));
    const { load } = new TableStatements(sharing, 'shares_v1');
    const plan = async () => {
      const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain ${load.replace('$1', `'[]'`)}`);
      return rows.map((row) => row['QUERY PLAN']).join('\n');
    };
    expect(await plan()).toContain('using shares_v1_pkey');
    await client.query(
      `insert into shares_v1 select gen_random_uuid(), 'seat', gen_random_uuid(), gen_random_uuid(), n, '' from generate_series(1, 1500) t(n)`,
    );
    expect(await plan()).toContain('using shares_v1_pkey');
    const { rows } = await client.query<{ tenant_id: string; holder: string; person: string }>(
      'select * from shares_v1 where number in (7, 8)',
    );
    const missing = { ...rows[0], person: rows[1]!.person };
    const keys = [...rows, missing].map(({ tenant_id, holder, person }) => ({
      tenant_id,
      kind: 'seat',
      holder,
      person,
    }));
    const found = await client.query<{ number: number }>(load, [JSON.stringify(keys)]);
    expect(found.rows.map(({ number }) => number).sort()).toEqual([7, 8]);
  });
});
