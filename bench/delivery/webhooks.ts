import { randomBytes, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { raiseAlert } from '../../commands/alerts/raise-alert.ts';
import { system } from '../../src/platform/kernel/actor.ts';
import { orThrow } from '../../src/platform/kernel/failure.ts';
import { startBenchApp } from '../app.ts';
import { compare, type Row } from '../measure.ts';

const MESSAGES = Number(process.env['BENCH_MESSAGES'] ?? 1_000);
const SETTINGS = '/api/v1/admin/alert-notifications';

/** A receiver that says when a body with this text has arrived. */
async function startReceiver() {
  const waiting = new Map<string, () => void>();
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      response.writeHead(204).end();
      const id = /"id":"([^"]+)"/.exec(body)?.[1] ?? '';
      waiting.get(id)?.();
      waiting.delete(id);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const arrival = (id: string) => new Promise<void>((resolve) => waiting.set(id, resolve));
  return { server, arrival, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

/** An alert that is raised until the webhook has it, beside an insert and a bare request to the same receiver. */
export async function measureWebhooks(): Promise<Row[]> {
  const app = await startBenchApp({ devMode: true });
  const { server, arrival, url } = await startReceiver();
  const put = async (path: string, body: object) => {
    const headers = { ...app.headers, 'content-type': 'application/json' };
    const { ok, status } = await fetch(`${app.url}${SETTINGS}/${path}`, {
      method: 'PUT',
      headers,
      body: JSON.stringify(body),
    });
    if (!ok) throw new Error(`${path}: ${status}`);
  };
  await put('webhook-secret', { secret: `whsec_${randomBytes(32).toString('base64')}` });
  await put('settings', { webhookEnabled: true, webhookUrl: url });
  const client = new pg.Client(app.databaseConfig);
  await client.connect();
  await client.query('create temporary table bench_rows (id uuid primary key, content text)');

  const raised = async () => {
    const alertId = randomUUID();
    const begun = performance.now();
    const arrived = arrival(alertId);
    const about = { userId: null, deviceId: null, domain: null, url: null, cause: alertId, metadata: {} };
    const alert = { alertId, alertType: 'weak_password', title: 'A', description: 'B', fingerprint: alertId, ...about };
    orThrow(
      await app.services.executor.execute(
        raiseAlert,
        { ...alert, alertType: 'weak_password' },
        {
          tenantId: app.tenantId,
          actor: system('bench'),
        },
      ),
    );
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
