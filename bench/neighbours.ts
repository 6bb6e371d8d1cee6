import { randomUUID } from 'node:crypto';
import { DemoDevice } from '../src/app/demo/fleet.ts';
import { startBenchApp } from './app.ts';
import { compare, type Row } from './measure.ts';
import { batch, enrolled } from './telemetry.ts';

const WRITES = 300;
/** 1,000 observations per second: the load of two hundred busy browsers. */
const BATCH = 50;
const BATCHES_A_SECOND = 20;

/** The time from an administrator's write to the list that shows it, while another tenant's fleet reports. */
export async function measure(): Promise<Row[]> {
  const app = await startBenchApp();
  const neighbour = await app.newTenant();
  const fleet = (await enrolled({ ...app, ...neighbour })).map(
    (credentials) => new DemoDevice(app.tlsUrl, credentials),
  );
  const headers = { ...app.headers, 'content-type': 'application/json' };
  const writeThenRead = async () => {
    const email = `${randomUUID()}@bench.example`;
    const written = await fetch(`${app.url}/api/v1/admin/users`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ email, displayName: 'Bench' }),
    });
    await written.arrayBuffer();
    const list = (await (
      await fetch(`${app.url}/api/v1/admin/users?search=${email}`, { headers: app.headers })
    ).json()) as { total: number };
    if (list.total !== 1) throw new Error('a write was not read back');
  };
  const latencies = async () => {
    const took: number[] = [];
    for (let n = 0; n < WRITES; n += 1) {
      const started = performance.now();
      await writeThenRead();
      took.push(performance.now() - started);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    took.sort((a, b) => a - b);
    return { p50: took[Math.floor(WRITES * 0.5)]!, p95: took[Math.floor(WRITES * 0.95)]! };
  };
  await latencies();
  const idle = await latencies();
  let sent = 0;
  const sending: Promise<unknown>[] = [];
  const flood = setInterval(
    () => sending.push(fleet[sent++ % fleet.length]!.report(batch(BATCH))),
    1_000 / BATCHES_A_SECOND,
  );
  const loaded = await latencies();
  clearInterval(flood);
  await Promise.all(sending);
  for (const device of fleet) device.close();
  await app.stop();
  return [
    compare(
      'write-then-read while another tenant reports 1,000 observations/s, p50 against idle',
      'ms',
      '<= 2',
      loaded.p50,
      idle.p50,
      'idle',
    ),
    compare('the same, p95', 'ms', '<= 2', loaded.p95, idle.p95, 'idle'),
  ];
}
