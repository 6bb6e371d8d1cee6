import { randomUUID } from 'node:crypto';
import { startBenchApp, type BenchApp } from '../app.ts';
import { compare, concurrently, median, type Row } from '../measure.ts';
import { notifyByWebhook, raiseOne, startReceiver } from './webhook-receiver.ts';

const ALERTS = Number(process.env['BENCH_BURST'] ?? 1_000);
const CALLERS = 32;
const LIMIT_S = 30;
const IDLE = 50;
const ME = '/api/v1/admin/me';

/** A burst of alerts: when the last webhook has arrived, what another tenant's administrator notices, and memory. */
export async function measureBurst(): Promise<Row[]> {
  const app = await startBenchApp({ devMode: true });
  const { server, arrival, url } = await startReceiver();
  await notifyByWebhook(app, url);
  const neighbour = await app.newTenant();
  const writeThenRead = () => writtenAndRead(app, neighbour.headers);
  const burst = async () => {
    const begun = performance.now();
    const ids = Array.from({ length: ALERTS }, () => randomUUID());
    const arrived = Promise.all(ids.map(arrival));
    await Promise.all([concurrently(CALLERS, ALERTS, (n) => raiseOne(app, ids[n])), arrived]);
    return (performance.now() - begun) / 1_000;
  };
  const idle: number[] = [];
  for (let n = 0; n < IDLE; n += 1) idle.push(await writeThenRead());

  await burst();
  const before = heap();
  const beside: number[] = [];
  let isOver = false;
  const bursting = burst().finally(() => (isOver = true));
  while (!isOver) beside.push(await writeThenRead());
  const seconds = await bursting;
  await burst();
  const after = heap();

  await app.stop();
  server.closeAllConnections();
  server.close();
  return [
    compare(`${ALERTS} alerts until the last webhook arrived`, 's', '<= 1', seconds, LIMIT_S, 'limit'),
    compare(
      "another administrator's write-then-read beside a burst, median",
      'ms',
      '<= 2',
      median(beside),
      median(idle),
      'idle',
    ),
    compare('memory after two more bursts', 'MB', '<= 1.2', after, before, 'before them'),
  ];
}

async function writtenAndRead({ url }: BenchApp, headers: Record<string, string>): Promise<number> {
  const begun = performance.now();
  const displayName = randomUUID();
  const body = JSON.stringify({ displayName });
  await fetch(`${url}${ME}`, { method: 'PUT', headers: { ...headers, 'content-type': 'application/json' }, body });
  const read = (await (await fetch(`${url}${ME}`, { headers })).json()) as { displayName: string };
  if (read.displayName !== displayName) throw new Error('the read shows an older state');
  return performance.now() - begun;
}

/** Megabytes in use after a collection. */
function heap(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 1_048_576;
}
