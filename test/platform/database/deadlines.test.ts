import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../../src/platform/database/database.ts';
import {
  PreparedStatementClient,
  type PreparedStatementClientConfig,
} from '../../../src/platform/database/prepared-statement-client.ts';
import { maintenanceQuery } from '../../../src/platform/database/time-limits.ts';
import { endAbandonedSessions } from '../../../src/platform/database/abandoned-sessions.ts';
import { closeIdle } from '../../../src/platform/database/idle-connections.ts';
import { DatabaseTimeout, isDatabaseUnavailable } from '../../../src/platform/database/unavailable.ts';
import { freshDatabase, type FreshDatabase } from '../../dsl/database.ts';
import { stallingProxy } from '../../dsl/stalling-proxy.ts';

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('a statement', () => {
  let fresh: FreshDatabase;
  beforeAll(async () => {
    fresh = await freshDatabase();
  });
  afterAll(() => fresh.drop());

  const poolVia = (port: number, over: Partial<PreparedStatementClientConfig> & { max?: number } = {}) => {
    const pool = new pg.Pool({
      ...fresh.config,
      host: '127.0.0.1',
      port,
      max: 4,
      Client: PreparedStatementClient as never,
      connectionTimeoutMillis: 2_000,
      silenceMillis: 200,
      pipeline: true,
      ...over,
    } as never);
    pool.on('error', () => undefined);
    pool.on('connect', (client) => client.on('error', (error) => error instanceof DatabaseTimeout && closeIdle(pool)));
    return pool;
  };
  const proxied = () => stallingProxy({ path: `${fresh.config.host}/.s.PGSQL.${fresh.config.port}` });

  it('that was given up leaves no session on the server, nor do idle ones that were closed with it', async () => {
    const proxy = await proxied();
    const pool = poolVia(proxy.port);
    endAbandonedSessions(pool);
    const backend = async () => (await pool.query('select pg_backend_pid() as pid')).rows[0].pid as number;
    const before = await Promise.all([backend(), backend(), backend(), backend()]);
    proxy.stall();
    await failureOf(backend());
    await backend();
    const left = async () =>
      (await pool.query('select pid from pg_stat_activity where pid = any($1)', [before])).rowCount;
    await expect.poll(left, { timeout: 5_000 }).toBe(0);
    await pool.end();
    await proxy.close();
  });

  it('is given up when the server does not respond, and the next one uses a new connection', async () => {
    const proxy = await proxied();
    const pool = poolVia(proxy.port);
    const backend = async () => (await pool.query('select pg_backend_pid() as pid')).rows[0].pid as number;
    const before = await Promise.all([backend(), backend(), backend(), backend()]);
    proxy.stall();
    const failure = await failureOf(backend());
    expect(failure).toBeInstanceOf(DatabaseTimeout);
    expect(isDatabaseUnavailable(failure)).toBe(true);
    const after = await Promise.all([backend(), backend(), backend(), backend()]);
    expect(after.filter((pid) => before.includes(pid))).toEqual([]);
    await pool.end();
    await proxy.close();
  });

  it('may take as long as responses keep coming, and as a transaction that is marked as patient', async () => {
    const proxy = await proxied();
    const pool = poolVia(proxy.port, { silenceMillis: 600 });
    const client = await pool.connect();
    // Each response within the deadline, all of them together beyond it.
    await Promise.all(Array.from({ length: 4 }, () => client.query('select pg_sleep(0.2)')));
    client.release();
    expect((await maintenanceQuery<{ done: number }>(pool, 5_000, 'select 1 as done, pg_sleep(1)')).rows).toMatchObject(
      [{ done: 1 }],
    );
    expect(await failureOf(pool.query('select pg_sleep(1)'))).toBeInstanceOf(DatabaseTimeout);
    await pool.end();
    await proxy.close();
  });

  it('has a server-side limit in every pool of the service, as have locks and pauses within a transaction', async () => {
    const database = openDatabase(fresh.config, pino({ level: 'silent' }));
    const shown = async (pool: { query(sql: string): Promise<{ rows: object[] }> }) =>
      Object.values(
        (
          await pool.query(
            `select current_setting('statement_timeout') as s, current_setting('lock_timeout') as l, current_setting('idle_in_transaction_session_timeout') as i`,
          )
        ).rows[0]!,
      );
    expect(await shown(database.store)).toEqual(['10s', '5s', '5s']);
    expect(await shown(database.projector)).toEqual(['15s', '5s', '5s']);
    expect(await shown(database.reads)).toEqual(['10s', '3s', '5s']);
    const [service] = await database.service.asSystem<{ s: string }>(
      `select current_setting('statement_timeout') as s`,
    );
    expect(service).toEqual({ s: '5s' });
    await database.close();
    const patient = openDatabase(fresh.config, pino({ level: 'silent' }), { patient: true });
    expect(await shown(patient.projector)).toEqual(['0', '0', '0']);
    await patient.close();
  });
});

describe('a failure of the database', () => {
  const withCode = (code: string) => Object.assign(new Error('said by a server'), { code });

  it.each([
    '08006',
    '53100',
    '53200',
    '53300',
    '57014',
    '57P01',
    '57P03',
    '58030',
    '55P03',
    '40P01',
    '25006',
    'ECONNREFUSED',
    'ECONNRESET',
  ])('with code %s counts as an outage', (code) => {
    expect(isDatabaseUnavailable(withCode(code))).toBe(true);
    expect(isDatabaseUnavailable(new Error('could not be read', { cause: withCode(code) }))).toBe(true);
  });

  it.each(['23505', '42703', '22001', '0A000', 'XX000'])('with code %s does not count as an outage', (code) => {
    expect(isDatabaseUnavailable(withCode(code))).toBe(false);
  });
});
