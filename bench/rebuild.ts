import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { alerts } from '../projections/alerts/alerts.ts';
import { families } from '../src/domain/families.ts';
import { alertEvents } from '../src/domain/alerts/events.ts';
import { EventCodec } from '../src/eventstore/codec.ts';
import { PostgresEventStore } from '../src/eventstore/postgres/postgres-event-store.ts';
import type { NewEvent } from '../src/eventstore/port.ts';
import { canonicalJson } from '../src/kernel/canonical-json.ts';
import { asTenantId } from '../src/kernel/ids.ts';
import { dayOf, day, defineReadModel, integer, text, type AnyReadModel } from '../src/kernel/read-model.ts';
import { rebuildInto } from '../src/projector/rebuild.ts';
import { openKeyrings } from '../src/vault/keyrings.ts';
import { PostgresPersonKeys } from '../src/vault/postgres-person-keys.ts';
import { TenantDataKeys } from '../src/vault/tenant-data-keys.ts';
import { startBenchServer } from './database.ts';
import { alternate, compare, perSecond, type Row } from './measure.ts';
import { startPeer } from './peers/peer.ts';

const EVENTS = 200_000;
const TENANT = asTenantId(randomUUID());
const metadata = {
  actor: { kind: 'system' as const, id: null },
  correlationId: randomUUID(),
  causationId: randomUUID(),
  commandId: randomUUID(),
};

/** Alerts a day by severity: what a chart counts. */
const counter = defineReadModel({
  name: 'bench_alert_daily',
  version: 1,
  lane: 'main',
  columns: { on_day: day, severity: text, raised: integer },
  key: ['on_day', 'severity'],
  families: [alertEvents],
  on: {
    AlertRaised: (event) => ({
      key: { on_day: dayOf(event.recordedAt), severity: event.data.severity },
      fold: (row) => ({
        on_day: dayOf(event.recordedAt),
        severity: event.data.severity,
        raised: (row?.raised ?? 0) + 1,
      }),
    }),
  },
});

/** An alert's life in four events: raised, acknowledged, assigned, resolved. */
export function alertLife(alertId: string): NewEvent[] {
  const event = (type: string, data: object): NewEvent => ({
    id: randomUUID(),
    type,
    version: 1,
    data: canonicalJson({ alertId, ...data }),
    metadata,
  });
  const fingerprint = `password_reuse||${alertId}.example`;
  const raised = {
    alertType: 'password_reuse',
    severity: 'medium',
    title: 'Password reuse',
    description: 'The same password on two sites',
    fingerprint,
    userId: null,
    deviceId: null,
    domain: 'shop.example.com',
    url: null,
    cause: alertId,
    metadata: {},
  };
  return [
    event('AlertRaised', raised),
    event('AlertAcknowledged', { notes: 'looking' }),
    event('AlertAssigned', { assigneeId: randomUUID() }),
    event('AlertResolved', { status: 'resolved', resolution: 'done', fingerprint }),
  ];
}

export async function measure(): Promise<Row[]> {
  const server = await startBenchServer();
  const { database, config, drop } = await server.database();
  const store = new PostgresEventStore(database.store, config);
  const keys = new TenantDataKeys(database.service, await openKeyrings(database.owner, Buffer.alloc(32, 1)));
  const codec = new EventCodec(families, new PostgresPersonKeys(database.service, keys));
  for (let written = 0; written < EVENTS;) {
    const group = Array.from({ length: 500 }, () => randomUUID());
    await Promise.all(
      group.map((alertId) =>
        store.append({
          tenantId: TENANT,
          stream: `alert-${TENANT}.${alertId}`,
          expectedRevision: -1n,
          events: alertLife(alertId),
          take: [],
          release: [],
        }),
      ),
    );
    written += group.length * 4;
  }
  const parts = { store, codec, pool: database.projector };
  const rebuilding = (model: AnyReadModel) => () => perSecond(EVENTS, () => rebuildInto(parts, model, 'bench', {}));
  const reader = new pg.Pool({ ...config, max: 1 });
  const plainRead = () =>
    perSecond(EVENTS, async () => {
      for (let position = '0'; ;) {
        const { rows } = await reader.query<{ position: string }>({
          name: 'page',
          text: 'select * from events where position > $1 order by position limit 5000',
          values: [position],
        });
        if (rows.length === 0) return;
        position = rows.at(-1)!.position;
      }
    });
  const emmett = await startPeer('emmett-projection.ts', config);
  const peer = () => emmett.ask({ count: 4_000, batch: 500 });
  const [ourAlerts, ourCounter, read, theirs] = await alternate(3, [
    rebuilding(alerts),
    rebuilding(counter),
    plainRead,
    peer,
  ]);
  const rows = [
    compare('rebuild of the alerts read model, against Emmett', 'events/s', '>= 20', ourAlerts!, theirs!, 'Emmett'),
    compare(
      'rebuild of the alerts read model, against the plain paged read',
      'events/s',
      '>= 0.3',
      ourAlerts!,
      read!,
      'read',
    ),
    compare('rebuild of a counter read model, against Emmett', 'events/s', '>= 20', ourCounter!, theirs!, 'Emmett'),
    compare(
      'rebuild of a counter read model, against the plain paged read',
      'events/s',
      '>= 0.3',
      ourCounter!,
      read!,
      'read',
    ),
  ];
  await emmett.stop();
  await reader.end();
  await store.close();
  await drop();
  await server.stop();
  return rows;
}
