import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { asTenantId, type TenantId } from '../src/platform/kernel/ids.ts';
import { PostgresEventStore } from '../src/platform/eventstore/postgres/postgres-event-store.ts';
import type { Append, NewEvent } from '../src/platform/eventstore/port.ts';
import { startBenchServer } from './database.ts';
import { alternate, compare, concurrently, perSecond, type Row } from './measure.ts';
import { startPeer } from './peers/peer.ts';

const TENANT = asTenantId(randomUUID());
/** About 400 bytes with its metadata. */
const DATA = JSON.stringify({
  alertId: randomUUID(),
  title: 'Password reuse',
  description: 'x'.repeat(120),
  severity: 'medium',
  domain: 'example.com',
});
const metadata = {
  actor: { kind: 'system' as const, id: null },
  correlationId: randomUUID(),
  causationId: randomUUID(),
  commandId: randomUUID(),
};
const event = (): NewEvent => ({ id: randomUUID(), type: 'AlertRaised', version: 1, data: DATA, metadata });

/** This many events on a new stream, with or without a claim. */
export const appendOf = (tenantId: TenantId, events: number, claims: boolean): Append => ({
  tenantId,
  stream: `alert-${tenantId}.${randomUUID()}`,
  expectedRevision: -1n,
  events: Array.from({ length: events }, event),
  claim: claims ? [{ tenantId, kind: 'bench', digest: randomUUID().replaceAll('-', '').repeat(2) }] : [],
  release: [],
});

const WARM = 6_000;
const ONE_ROW = `insert into plain (stream, revision, id, type, data, metadata) values ($1, $2, $3, $4, $5, $6)`;

/**
 * Durable appends through the port, with expected revisions and a claim on every tenth, compared with one row per
 * transaction and Emmett.
 */
export async function measure(): Promise<Row[]> {
  const server = await startBenchServer();
  await server.age();
  const { database, config, drop } = await server.database();
  const store = new PostgresEventStore(database.store, config);
  const plain = new pg.Pool({ ...config, max: 32 });
  await plain.query(
    `create table plain (position bigserial primary key, stream text not null, revision bigint not null, id uuid not null, type text not null, data jsonb not null, metadata jsonb not null, unique (stream, revision))`,
  );
  const emmett = await startPeer('emmett-appends.ts', config);

  const ours =
    (callers: number, count: number, batch = 1) =>
    () =>
      perSecond(count * batch, () =>
        concurrently(callers, count, (n) => store.append(appendOf(TENANT, batch, n % 10 === 0))),
      );
  const oneRow = (callers: number, count: number) => () =>
    perSecond(count, () =>
      concurrently(callers, count, () =>
        plain.query({
          name: 'one-row',
          text: ONE_ROW,
          values: [`alert-${randomUUID()}`, 0, randomUUID(), 'AlertRaised', DATA, JSON.stringify(metadata)],
        }),
      ),
    );
  const peer =
    (callers: number, count: number, batch = 1) =>
    () =>
      emmett.ask({ callers, count, batch });

  const rows: Row[] = [];
  // A service is compiled by then, as it is a minute after its start: the path of many callers, and that of a single
  // caller.
  await ours(32, 5_000)();
  await ours(1, WARM)();
  await oneRow(1, WARM)();
  // A single caller waits for the disk, whose latency changes within a second: many short rounds, of the same length
  // for both.
  for (const { callers, count, rowCount, rounds, againstEmmett, againstRow } of [
    { callers: 1, count: 250, rowCount: 250, rounds: 24, againstEmmett: '', againstRow: '>= 0.7' },
    { callers: 32, count: 20_000, rowCount: 5_000, rounds: 3, againstEmmett: '>= 7', againstRow: '>= 2' },
    { callers: 256, count: 40_000, rowCount: 10_000, rounds: 3, againstEmmett: '>= 12', againstRow: '>= 3' },
  ]) {
    const [our, row, emm] = await alternate(rounds, [
      ours(callers, count),
      oneRow(callers, rowCount),
      peer(callers, Math.ceil(count / 10)),
    ]);
    rows.push(
      compare(`appends, ${callers} callers, against one row a transaction`, 'events/s', againstRow, our!, row!, 'pg'),
    );
    rows.push(
      compare(
        `appends, ${callers} callers, against Emmett`,
        'events/s',
        againstEmmett || 'report',
        our!,
        emm!,
        'Emmett',
      ),
    );
  }
  const [batched, emmBatched] = await alternate(3, [ours(8, 1_000, 100), peer(8, 300, 100)]);
  rows.push(
    compare(
      'appends, 8 callers, batches of 100, against Emmett',
      'events/s',
      '>= 1.3',
      batched!,
      emmBatched!,
      'Emmett',
    ),
  );

  await emmett.stop();
  await plain.end();
  await store.close();
  await drop();
  await server.stop();
  return rows;
}
