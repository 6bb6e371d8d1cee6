import { randomUUID } from 'node:crypto';
import { startBenchApp, type BenchApp } from '../app.ts';
import { HttpClient } from '../http-client.ts';
import { raise } from '../http.ts';
import { concurrently, perSecond } from '../measure.ts';
import type { Running } from './running.ts';

const WARM = 1_600;
const ALERTS = 1_000;

/** Alerts that are resolved over HTTP; each response waits until every read model shows it. */
export const resolves = (clients: number, count: number): Promise<Running> =>
  requests(clients, count, (id) => ({
    method: 'PUT',
    path: `/api/v1/admin/alerts/${id}/resolve`,
    body: '{"status":"resolved","resolution":"done"}',
  }));

/** Reads of one alert over HTTP. */
export const reads = (clients: number, count: number): Promise<Running> =>
  requests(clients, count, (id) => ({ method: 'GET', path: `/api/v1/admin/alerts/${id}` }));

/** Employees that are created over HTTP, in a tenant without a limit of seats. */
export async function creations(clients: number, count: number): Promise<Running> {
  const app = await startBenchApp();
  const tenant = await app.newTenant();
  const client = new HttpClient(app.url, clients);
  const headers = { ...tenant.headers, 'content-type': 'application/json' };
  const one = async () => {
    const body = JSON.stringify({ email: `${randomUUID()}@bench.example`, displayName: 'Ada' });
    const { status } = await client.send('POST', '/api/v1/admin/users', headers, body);
    if (status !== 201) throw new Error(`POST /api/v1/admin/users: ${status}`);
  };
  return repeating({ app, client, clients, count }, one);
}

async function requests(
  clients: number,
  count: number,
  request: (alertId: string) => { readonly method: string; readonly path: string; readonly body?: string },
): Promise<Running> {
  const app = await startBenchApp();
  const alerts = await raise(app, ALERTS);
  const client = new HttpClient(app.url, clients);
  const headers = { ...app.headers, 'content-type': 'application/json' };
  const one = async (n: number) => {
    const { method, path, body } = request(alerts[n % ALERTS]!);
    const { status } = await client.send(method, path, method === 'GET' ? app.headers : headers, body);
    if (status !== 200) throw new Error(`${method} ${path}: ${status}`);
  };
  return repeating({ app, client, clients, count }, one);
}

interface Repeated {
  readonly app: BenchApp;
  readonly client: HttpClient;
  readonly clients: number;
  readonly count: number;
}

/** Rounds of `count` requests, after a warm-up. */
async function repeating(
  { app, client, clients, count }: Repeated,
  one: (n: number) => Promise<void>,
): Promise<Running> {
  await concurrently(clients, clients === 1 ? WARM / 3 : WARM, one);
  return {
    round: () => perSecond(count, () => concurrently(clients, count, one)),
    stop: async () => {
      client.close();
      await app.stop();
    },
  };
}
