import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { startBenchApp } from '../app.ts';
import { compare, type Row } from '../measure.ts';
import { notifyByWebhook, raiseOne, startReceiver } from './webhook-receiver.ts';

const MESSAGES = Number(process.env['BENCH_MESSAGES'] ?? 1_000);

/** An alert that is raised until the webhook has it, beside an insert and a bare request to the same receiver. */
export async function measureWebhooks(): Promise<Row[]> {
  const app = await startBenchApp({ devMode: true });
  const { server, arrival, url } = await startReceiver();
  await notifyByWebhook(app, url);
  const client = new pg.Client(app.databaseConfig);
  await client.connect();
  await client.query('create temporary table bench_rows (id uuid primary key, content text)');

  const raised = async () => {
    const alertId = randomUUID();
    const begun = performance.now();
    const arrived = arrival(alertId);
    await raiseOne(app, alertId);
    await arrived;
    return performance.now() - begun;
  };
  const bare = async () => {
    const id = randomUUID();
    const begun = performance.now();
    await client.query('insert into bench_rows values ($1, $2)', [id, 'x'.repeat(500)]);
    await fetch(url, { method: 'POST', body: JSON.stringify({ id, content: 'x'.repeat(500) }) });
    return performance.now() - begun;
  };
  const [ours, peer]: [number[], number[]] = [[], []];
  for (let n = 0; n < MESSAGES; n += 1) {
    ours.push(await raised());
    peer.push(await bare());
  }
  await client.end();
  await app.stop();
  server.closeAllConnections();
  server.close();
  return [
    compare('alert raised until its webhook arrived, median', 'ms', '<= 3', ours, peer, 'insert and bare request'),
  ];
}
