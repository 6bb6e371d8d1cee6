import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ReadyPool } from '../../src/database/ready-pool.ts';
import { freshDatabase } from '../dsl/database.ts';

/** Of four connections two are kept in hand. */
const MOST = 4;

describe('a pool with connections in hand', () => {
  let fresh: Awaited<ReturnType<typeof freshDatabase>>;
  let pool: ReadyPool;
  let lost: Error[];
  beforeAll(async () => {
    fresh = await freshDatabase();
  });
  beforeEach(() => {
    lost = [];
    pool = new ReadyPool({ ...fresh.config, max: MOST, idleTimeoutMillis: 10, connectionTimeoutMillis: 2_000 });
    pool.on('error', (error) => lost.push(error));
    pool.on('connect', (client) => client.on('error', () => undefined));
  });
  afterEach(() => (pool.ending ? undefined : pool.end()));
  afterAll(() => fresh.drop());

  type Asking = Pick<pg.Pool, 'query'>;
  const backend = async (on: Asking = pool) =>
    (await on.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]!.pid;
  const kill = async (pid: number) => {
    const other = new ReadyPool({ ...fresh.config, max: 1 });
    await other.query('select pg_terminate_backend($1, 5000)', [pid]);
    await other.end();
  };
  const takeAll = () => Promise.all(Array.from({ length: MOST }, () => pool.connect()));

  it('asks one caller after the other on the same connection, however long they were apart', async () => {
    const first = await backend();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await backend()).toBe(first);
    const client = await pool.connect();
    expect(await backend(client)).toBe(first);
    client.release();
    expect(await backend()).toBe(first);
  });

  it('gives each of many callers a connection of his own, and those who wait the next that comes back', async () => {
    const held = await takeAll();
    expect(new Set(await Promise.all(held.map((client) => backend(client)))).size).toBe(MOST);
    const waiting = Promise.all([backend(), pool.connect(), backend()]);
    for (const client of held) client.release();
    (await waiting)[1].release();
    for (const client of await takeAll()) client.release();
  });

  it('is no narrower than its most where all but the ones in hand are taken', async () => {
    const [one, ...others] = await takeAll();
    one!.release();
    const pids = await Promise.all([backend(), backend(), backend()]);
    expect(new Set(pids).size).toBe(1);
    for (const client of others) client.release();
  });

  it('keeps a connection on which a key was taken, and lets go of one whose statement failed otherwise', async () => {
    await pool.query('create table if not exists keys (id int primary key)');
    await pool.query('insert into keys values (1) on conflict do nothing');
    const first = await backend();
    await expect(pool.query('insert into keys values (1)')).rejects.toMatchObject({ code: '23505' });
    expect(await backend()).toBe(first);
    await expect(pool.query('select 1 / 0')).rejects.toMatchObject({ code: '22012' });
    expect(await backend()).not.toBe(first);
  });

  it('tells of a connection that is lost in its hand, and goes on with another', async () => {
    const first = await backend();
    await kill(first);
    await expect.poll(() => lost.length).toBe(1);
    expect(await backend()).not.toBe(first);
    expect(await backend(), 'kept again').toBe(await backend());
  });

  it('does not take back what was lost in the hands of a caller', async () => {
    const client = await pool.connect();
    const first = await backend(client);
    await kill(first);
    await expect(client.query('select 1')).rejects.toThrow();
    client.release();
    expect(await backend()).not.toBe(first);
    expect(lost).toEqual([]);
  });

  it('lets go of what is given back as broken', async () => {
    const client = await pool.connect();
    const first = await backend(client);
    client.release(true);
    expect(await backend()).not.toBe(first);
  });

  it('does not take a connection back twice', async () => {
    const client = await pool.connect();
    client.release();
    expect(() => client.release()).toThrow('twice');
    const broken = await pool.connect();
    broken.release(true);
    expect(() => broken.release()).toThrow('twice');
    expect(await backend(), 'and keeps as many as before').toBe(await backend());
  });

  it('ends once everybody has given back what he holds', async () => {
    await backend();
    const client = await pool.connect();
    let ended = false;
    const ending = pool.end().then(() => (ended = true));
    expect(await backend(client)).toBeGreaterThan(0);
    expect(ended).toBe(false);
    client.release();
    await ending;
    await expect(pool.query('select 1')).rejects.toThrow('end');
  });

  it('answers callbacks as the driver does', async () => {
    await backend();
    const answer = await new Promise((resolve, reject) => {
      pool.connect((error, client, release) => {
        if (error) return reject(error);
        resolve(client!.query('select 1 as one').finally(() => release()));
      });
    });
    expect(answer).toMatchObject({ rows: [{ one: 1 }] });
  });
});
