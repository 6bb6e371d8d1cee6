import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLogDestination } from '../../commands/log-destinations/create-log-destination.ts';
import { system } from '../../src/platform/kernel/actor.ts';
import { orThrow } from '../../src/platform/kernel/failure.ts';
import { startBenchApp, type BenchApp } from '../app.ts';
import { compare, type Row } from '../measure.ts';
import { raiseOne } from './webhook-receiver.ts';

const SECONDS = Number(process.env['BENCH_LIVE_SECONDS'] ?? 20);
const A_SECOND = 100;
const LIMIT_MS = 250;

/** From the response of a command until a local HTTP sink has its record, at 100 commands a second. */
export async function measureLiveForwarding(): Promise<Row[]> {
  const app = await startBenchApp({ devMode: true });
  const arrivals = new Map<string, number>();
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      response.end('{}');
      const now = performance.now();
      for (const [, id] of body.matchAll(/"alertId":"([^"]+)"/g)) if (!arrivals.has(id!)) arrivals.set(id!, now);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  await addDestination(app, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);

  const responses = new Map<string, number>();
  const underWay: Promise<void>[] = [];
  const begun = performance.now();
  for (let n = 0; n < SECONDS * A_SECOND; n += 1) {
    await sleep(Math.max(0, begun + (n * 1_000) / A_SECOND - performance.now()));
    const id = randomUUID();
    underWay.push(raiseOne(app, id).then(() => void responses.set(id, performance.now())));
  }
  await Promise.all(underWay);
  while (arrivals.size < responses.size) await sleep(20);
  await app.stop();
  server.closeAllConnections();
  server.close();
  const delays = [...responses].map(([id, at]) => Math.max(0, arrivals.get(id)! - at)).sort((a, b) => a - b);
  const p95 = delays[Math.floor(delays.length * 0.95)]!;
  const name = `a record at ${A_SECOND} commands/s until its sink has it, p95`;
  return [compare(name, 'ms', '<= 1', p95, LIMIT_MS, 'limit')];
}

async function addDestination({ services, tenantId }: BenchApp, url: string): Promise<void> {
  const destination = {
    destinationId: randomUUID(),
    name: 'live',
    format: 'json' as const,
    isEnabled: true,
    eventTypes: ['audit' as const],
    config: { type: 'webhook' as const, url, headers: {}, payload: 'ndjson' as const },
    allowPrivateNetwork: false,
    caCertificate: null,
  };
  const execution = { tenantId, actor: system('bench') };
  orThrow(await services.executor.execute(createLogDestination, { destination, credential: null }, execution));
}
