import { randomUUID } from 'node:crypto';
import autocannon from 'autocannon';
import fastify from 'fastify';
import pg from 'pg';
import { resolveAlert } from '../commands/alerts/resolve-alert.ts';
import { raiseAlert } from '../commands/alerts/raise-alert.ts';
import { system } from '../src/platform/kernel/actor.ts';
import { orThrow } from '../src/platform/kernel/failure.ts';
import { SELECT_ALERTS } from '../queries/alerts/alert-view.ts';
import { startBenchApp, type BenchApp } from './app.ts';
import { HttpClient } from './http-client.ts';
import { alternate, compare, concurrently, median, perSecond, type Row } from './measure.ts';

const SECONDS = 4;
/** Milliseconds until a service is compiled, as it is a minute after its start. */
const WARM = 4_000;

/**
 * A resolved alert with read-your-writes, and one alert read, each compared with a bare Fastify route on the same
 * database.
 */
export async function measure(): Promise<Row[]> {
  const app = await startBenchApp();
  const alerts = await raise(app, 2_000);
  const bare = await bareRoutes(app.databaseConfig, app.tenantId, alerts[0]!);

  const [service, peer] = [new HttpClient(app.url, 32), new HttpClient(bare.url, 32)];
  const headers = { ...app.headers, 'content-type': 'application/json' };
  const resolve = async (id: string) => {
    const { status, head } = await service.send(
      'PUT',
      `/api/v1/admin/alerts/${id}/resolve`,
      headers,
      '{"status":"resolved","resolution":"done"}',
    );
    if (status !== 200 || head.includes('x-stale')) throw new Error(`not resolved in time: ${status}`);
  };
  const insert = () => peer.send('POST', '/insert');
  const pool = new pg.Pool({ ...app.databaseConfig, max: 1 });
  const oneRow = () =>
    pool.query({
      name: 'one',
      text: 'insert into bare (id, note) values ($1, $2)',
      values: [randomUUID(), 'x'.repeat(200)],
    });

  await concurrently(8, WARM, (n) => resolve(alerts[n % alerts.length]!));
  await concurrently(8, WARM, insert);
  const p50 = (call: (n: number) => Promise<unknown>) => async () => {
    const took: number[] = [];
    for (let n = 0; n < 300; n += 1) {
      const started = performance.now();
      await call(n);
      took.push(performance.now() - started);
    }
    return median(took);
  };
  const [ours50, row50] = await alternate(5, [p50((n) => resolve(alerts[n]!)), p50(oneRow)]);
  const rate = (call: (n: number) => Promise<unknown>, count: number) => () =>
    perSecond(count, () => concurrently(32, count, call));
  const [resolved, inserted] = await alternate(3, [
    rate((n) => resolve(alerts[n % alerts.length]!), 3_000),
    rate(insert, 6_000),
  ]);
  const cannon = (url: string, headers: Record<string, string>) => async () =>
    (await autocannon({ url, headers, connections: 32, duration: SECONDS })).requests.average;
  const [read, bareRead] = await alternate(3, [
    cannon(`${app.url}/api/v1/admin/alerts/${alerts[0]}`, app.headers),
    cannon(`${bare.url}/alert`, {}),
  ]);

  const rows = [
    compare('p50 of a resolved alert over HTTP, against a one-row insert', 'ms', '<= 12', ours50!, row50!, 'insert'),
    compare(
      'resolved alerts at 32 clients, against a bare route with one durable insert',
      'requests/s',
      '>= 0.25',
      resolved!,
      inserted!,
      'bare route',
    ),
    compare(
      'GET /alerts/{alertID}, against a bare route with the same SELECT',
      'requests/s',
      '>= 0.5',
      read!,
      bareRead!,
      'bare route',
    ),
  ];
  await pool.end();
  service.close();
  peer.close();
  await bare.stop();
  await app.stop();
  return rows;
}

export async function raise({ services, tenantId }: BenchApp, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => randomUUID());
  const input = (alertId: string) => ({
    alertId,
    alertType: 'password_reuse' as const,
    title: 'Password reuse',
    description: 'The same password on two sites',
    fingerprint: alertId,
    userId: null,
    deviceId: null,
    domain: 'shop.example.com',
    url: null,
    cause: alertId,
    metadata: {},
  });
  let last = 0n;
  await concurrently(32, count, async (n) => {
    const { position } = orThrow(
      await services.executor.execute(raiseAlert, input(ids[n]!), { tenantId, actor: system('bench') }),
    );
    if (position! > last) last = position!;
  });
  await services.freshness.waitFor([...(resolveAlert.freshens ?? [])], last, 30_000);
  return ids;
}

async function bareRoutes(config: pg.ClientConfig, tenantId: string, alertId: string) {
  const pool = new pg.Pool({ ...config, max: 32 });
  await pool.query('create table if not exists bare (id uuid primary key, note text not null)');
  const app = fastify();
  app.post('/insert', async () => {
    await pool.query({
      name: 'insert',
      text: 'insert into bare (id, note) values ($1, $2)',
      values: [randomUUID(), 'x'.repeat(200)],
    });
    return { done: true };
  });
  app.get('/alert', async () => {
    const { rows } = await pool.query({
      name: 'alert',
      text: `${SELECT_ALERTS} where a.tenant_id = $1 and a.alert_id = $2`,
      values: [tenantId, alertId],
    });
    return rows[0] as object;
  });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return {
    url,
    stop: async () => {
      await app.close();
      await pool.end();
    },
  };
}
