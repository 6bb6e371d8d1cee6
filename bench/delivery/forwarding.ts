import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { randomUUID } from 'node:crypto';
import { createLogDestination } from '../../commands/log-destinations/create-log-destination.ts';
import type { DestinationConfig } from '../../src/contexts/log-destinations/domain/config.ts';
import { Forwarder } from '../../src/contexts/log-destinations/forwarding/forwarder.ts';
import { system } from '../../src/platform/kernel/actor.ts';
import { orThrow } from '../../src/platform/kernel/failure.ts';
import { startBenchApp, type BenchApp } from '../app.ts';
import { alternate, compare, perSecond, type Row } from '../measure.ts';

/** `BENCH_RECORDS=20000` measures a shorter backlog. */
const RECORDS = Number(process.env['BENCH_RECORDS'] ?? 200_000);
const AN_APPEND = 500;
const PAGE = 500;
const ROUNDS = 3;

/** A backlog of audit records, forwarded to local sinks, compared with reading the same events page by page. */
export async function measureForwarding(): Promise<Row[]> {
  const app = await startBenchApp({ devMode: true });
  const sinks = [await startSink('tcp'), await startSink('http')] as const;
  try {
    await app.services.forwarder.stop();
    const [tcp, http] = [
      await addDestination(app, {
        type: 'syslog',
        host: '127.0.0.1',
        port: sinks[0].port,
        protocol: 'tcp',
        facility: 'local0',
      }),
      await addDestination(app, {
        type: 'webhook',
        url: `http://127.0.0.1:${sinks[1].port}`,
        headers: {},
        payload: 'ndjson',
      }),
    ];
    const begin = await app.services.store.head();
    await appendBacklog(app);
    const [reads, overTcp, overHttp] = await alternate(ROUNDS, [
      () => perSecond(RECORDS, () => readAll(app, begin)),
      () => forward(app, tcp, begin),
      () => forward(app, http, begin),
    ]);
    const row = (what: string, target: string, ours: readonly number[]) =>
      compare(`forwarding a backlog of ${RECORDS} records to ${what}`, 'records/s', target, ours, reads!, 'paged read');
    return [row('a local TCP syslog sink', '>= 0.2', overTcp!), row('a local HTTP bulk sink', '>= 0.15', overHttp!)];
  } finally {
    for (const { stop } of sinks) stop();
    await app.stop();
  }
}

async function startSink(kind: 'tcp' | 'http') {
  const child = fork(fileURLToPath(new URL('sink-process.ts', import.meta.url)), [kind], {
    execArgv: ['--import', 'tsx'],
  });
  const [port] = (await once(child, 'message')) as [number];
  return { port, stop: () => child.disconnect() };
}

async function addDestination({ services, tenantId }: BenchApp, config: DestinationConfig): Promise<string> {
  const destinationId = randomUUID();
  const destination = {
    destinationId,
    name: config.type,
    format: config.type === 'syslog' ? ('rfc5424' as const) : ('json' as const),
    isEnabled: true,
    eventTypes: ['verification' as const],
    config,
    allowPrivateNetwork: false,
    caCertificate: null,
  };
  const execution = { tenantId, actor: system('bench') };
  orThrow(await services.executor.execute(createLogDestination, { destination, credential: null }, execution));
  return destinationId;
}

/** Many events at once, as no command would append them. */
async function appendBacklog({ services, tenantId }: BenchApp): Promise<void> {
  const { store, codec, freshness, mainModels } = services;
  const metadata = { actor: system('bench'), correlationId: randomUUID(), causationId: '', commandId: randomUUID() };
  for (let from = 0; from < RECORDS; from += AN_APPEND) {
    const userId = randomUUID();
    const events = await Promise.all(
      Array.from({ length: Math.min(AN_APPEND, RECORDS - from) }, () => {
        const data = { verificationId: randomUUID(), userId, method: 'otp', at: new Date().toISOString() };
        return codec.encode(randomUUID(), tenantId, { type: 'VerificationFailed', data }, metadata);
      }),
    );
    await store.append({
      tenantId,
      stream: `verification-${tenantId}.${userId}`,
      expectedRevision: -1n,
      events,
      claim: [],
      release: [],
    });
  }
  if (!(await freshness.waitFor(mainModels, await store.head(), 600_000))) throw new Error('projections are behind');
}

async function readAll({ services: { store } }: BenchApp, begin: bigint): Promise<void> {
  let [after, read] = [begin, 0];
  for (;;) {
    const { events, position } = await store.readAll(after, PAGE);
    if (events.length === 0) break;
    [after, read] = [position, read + events.length];
  }
  if (read < RECORDS) throw new Error('the backlog is incomplete');
}

/** From the start of the process that forwards until the last checkpoint. */
async function forward({ services }: BenchApp, destinationId: string, begin: bigint): Promise<number> {
  const { owner } = services.database;
  const only = `destination_id = '${destinationId}'`;
  await owner.query(
    `update log_forwarding set position = $1, counted_to = $1, lag_events = 0, delivered = 0 where ${only}`,
    [String(begin)],
  );
  await owner.query(
    `update log_forwarding set position = (select max(position) from events), counted_to = (select max(position) from events) where not ${only}`,
  );
  const forwarder = new Forwarder({ ...services, pool: services.database.projector, sinks: services.destinationSinks });
  const speed = await perSecond(RECORDS, async () => {
    forwarder.start();
    for (let delivered = 0; delivered < RECORDS;) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      const { rows } = await owner.query<{ delivered: number }>(`select delivered from log_forwarding where ${only}`);
      delivered = rows[0]?.delivered ?? 0;
    }
  });
  await forwarder.stop();
  return speed;
}
