import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { readModels } from '../projections/index.ts';
import { deviceStream } from '../src/contexts/devices/domain/device.ts';
import { deviceDayStream } from '../src/contexts/telemetry/domain/device-day.ts';
import type { DomainEvent } from '../src/platform/kernel/event.ts';
import { startBenchApp, type BenchApp } from './app.ts';
import { compare, concurrently, type Row } from './measure.ts';

const EXTENSIONS = 1_000;
const ON_A_DEVICE = 50;
const CALLS = 20;
const WARM = 3;
const PATHS = [
  'inventory',
  'inventory?search=extension%2012',
  'inventory?is_whitelisted=false&page=10&page_size=100',
  'inventory/unwhitelisted',
  'inventory/stats',
  'inventory/aggregates',
  'extension/ext-0',
  'events',
];

/**
 * The cost of extension monitoring with a thousand extensions in the browsers of a small and of a large company: ten
 * thousand installations compared with a hundred thousand. The lists are grouped reads, so the time may grow linearly
 * with the installations, not faster.
 */
export const measure = (): Promise<Row[]> => measureAt(200, 2_000);

export async function measureAt(few: number, many: number): Promise<Row[]> {
  const app = await startBenchApp();
  const small = await fleetOf(app, few);
  const large = await fleetOf({ ...app, ...(await app.newTenant()) }, many);
  const owner = new pg.Client(app.databaseConfig);
  await owner.connect();
  await owner.query('vacuum analyze'); // As autovacuum does within minutes.
  await owner.end();
  const rows: Row[] = [];
  for (const path of PATHS) {
    const [ours, theirs] = [await p95(large, path), await p95(small, path)];
    const size = (devices: number) => (devices * ON_A_DEVICE).toLocaleString('en');
    rows.push(
      compare(
        `p95 of GET extension-monitoring/${path} at ${size(many)} installations`,
        'ms',
        `<= ${(2 * many) / few}`,
        ours,
        theirs,
        `at ${size(few)}`,
      ),
    );
  }
  await app.stop();
  return rows;
}

async function fleetOf(app: BenchApp, devices: number): Promise<BenchApp> {
  const { services } = app;
  let position = 0n;
  await concurrently(8, devices, async (n) => {
    const [deviceId, userId] = [randomUUID(), randomUUID()];
    const occurredAt = new Date(Date.now() - n * 1_000).toISOString();
    const browserType = (['chrome', 'edge', 'firefox'] as const)[n % 3]!;
    await append(app, deviceStream(app.tenantId, deviceId), {
      type: 'DeviceEnrolled',
      data: {
        deviceId,
        userId,
        deviceFingerprint: deviceId,
        besideDeviceId: null,
        isConfirmed: true,
        wipeId: null,
        browserType,
        browserVersion: null,
        osType: null,
        osVersion: null,
        extensionVersion: null,
        hostname: null,
        agentVersion: null,
      },
    });
    // A few that all browsers have, many that few have.
    const extensions = Array.from({ length: ON_A_DEVICE }, (_, at) =>
      at < 5 ? at : 5 + ((n * 45 + at) % (EXTENSIONS - 5)),
    ).map((one) => ({
      extensionId: `ext-${one}`,
      name: `Extension ${one}`,
      version: `1.${(n + one) % 3}`,
      publisher: 'Somebody',
      permissions: [
        'storage',
        'tabs',
        `https://site${one}.example/*`,
        ...(one % 7 === 0 ? ['cookies', '<all_urls>'] : []),
      ],
      isEnabled: true,
    }));
    const inventory = {
      kind: 'extension_inventory',
      eventId: randomUUID(),
      occurredAt,
      domain: null,
      url: null,
      extensions,
    };
    const changes = [0, 1].map((one) => ({
      kind: 'extension_event',
      eventId: randomUUID(),
      occurredAt,
      domain: null,
      url: null,
      extensionId: `ext-${one}`,
      change: 'enabled',
      name: null,
      version: null,
      permissions: null,
    }));
    const data = {
      deviceId,
      userId,
      deviceSequence: null,
      extensionMode: null,
      policyVersion: null,
      observations: [inventory, ...changes],
    };
    const at = await append(app, deviceDayStream(app.tenantId, deviceId, occurredAt.slice(0, 10)), {
      type: 'TelemetryRecorded',
      data,
    });
    if (at > position) position = at;
  });
  while (
    !(await services.freshness.waitFor(
      readModels.map(({ name }) => name),
      position,
      10_000,
    ))
  );
  return app;
}

async function append({ services, tenantId }: BenchApp, stream: string, event: DomainEvent): Promise<bigint> {
  const metadata = {
    actor: { kind: 'system' as const, id: null },
    correlationId: randomUUID(),
    causationId: randomUUID(),
    commandId: randomUUID(),
  };
  const verdict = await services.store.append({
    tenantId,
    stream,
    expectedRevision: -1n,
    events: [await services.codec.encode(randomUUID(), tenantId, event, metadata)],
    claim: [],
    release: [],
  });
  if (verdict.kind !== 'appended') throw new Error(`the append of an event returned ${verdict.kind}`);
  return verdict.position;
}

async function p95({ url, headers }: BenchApp, path: string): Promise<number> {
  const took: number[] = [];
  for (let n = 0; n < CALLS + WARM; n += 1) {
    const started = performance.now();
    const answer = await fetch(`${url}/api/v1/admin/extension-monitoring/${path}`, { headers });
    await answer.arrayBuffer();
    if (!answer.ok) throw new Error(`${path} responded with ${answer.status}`);
    if (n >= WARM) took.push(performance.now() - started);
  }
  return took.toSorted((a, b) => a - b)[Math.floor(CALLS * 0.95)]!;
}
