import { randomUUID } from 'node:crypto';
import { EventStoreDBClient, START as LOG_START, streamNameFilter, type JSONEventData } from '@eventstore/db-client';
import { EventStoreDbEventStore } from '../../src/platform/eventstore/eventstoredb/eventstoredb-event-store.ts';
import { logPosition } from '../../src/platform/eventstore/eventstoredb/positions.ts';
import { EVENT_STREAMS } from '../../src/platform/eventstore/eventstoredb/stream-names.ts';
import { asTenantId } from '../../src/platform/kernel/ids.ts';
import { alternate, compare, concurrently, perSecond, type Row } from '../measure.ts';
import type { EventStoreServer } from './server.ts';

export const EVENTS = Number(process.env['BENCH_FEED_EVENTS'] ?? 200_000);
const BATCH = 100;
const FILLERS = 8;
/** As a rebuild reads. */
const PAGE = 2_000;

const TENANT = asTenantId(randomUUID());
/** About 400 bytes with its metadata. */
const DATA = {
  alertId: randomUUID(),
  title: 'Password reuse',
  description: 'x'.repeat(120),
  severity: 'medium',
  domain: 'example.com',
};
const METADATA = {
  actor: { kind: 'system', id: null },
  correlationId: randomUUID(),
  causationId: randomUUID(),
  commandId: randomUUID(),
  tenantId: TENANT,
  version: 1,
};

const jsonEvent = (type: string, data: object, metadata?: object): JSONEventData =>
  ({ id: randomUUID(), contentType: 'application/json', type, data, metadata }) as unknown as JSONEventData;

/** A third of the log each: events, claims, events of another application. */
export async function writeHistory(client: EventStoreDBClient): Promise<void> {
  const kinds = [
    () => ({ stream: `alert-${TENANT}.${randomUUID()}`, event: () => jsonEvent('AlertRaised', DATA, METADATA) }),
    () => ({
      stream: `claim-${TENANT}.bench.${randomUUID().replaceAll('-', '').repeat(2)}`,
      event: () => jsonEvent('ClaimConfirmed', { holder: `alert-${TENANT}.x`, eventId: randomUUID(), revision: '0' }),
    }),
    () => ({ stream: `order-${randomUUID()}`, event: () => jsonEvent('OrderPlaced', DATA, { by: 'shop' }) }),
  ];
  await concurrently(FILLERS, (kinds.length * EVENTS) / BATCH, async (n) => {
    const { stream, event } = kinds[n % kinds.length]!();
    await client.appendToStream(stream, Array.from({ length: BATCH }, event), { expectedRevision: 'no_stream' });
  });
}

/**
 * Reading all events of a log of which two thirds are claims and another application's events, compared with the plain
 * client's filtered subscription.
 */
export async function readAllStream(server: EventStoreServer): Promise<Row[]> {
  const store = new EventStoreDbEventStore(server.url, { timeoutMs: 60_000 });
  const plain = EventStoreDBClient.connectionString(server.url);
  try {
    const before = await store.head();
    await writeHistory(plain);

    const ours = () =>
      perSecond(EVENTS, async () => {
        let seen = 0;
        for (let after = before; ;) {
          const page = await store.readAll(after, PAGE);
          seen += page.events.length;
          if (page.events.length < PAGE && !page.more) break;
          after = page.position;
        }
        if (seen !== EVENTS) throw new Error(`read ${seen} events of ${EVENTS}`);
      });
    const theirs = () =>
      perSecond(EVENTS, async () => {
        const subscription = plain.subscribeToAll({
          fromPosition: logPosition(before) ?? LOG_START,
          filter: streamNameFilter({ regex: EVENT_STREAMS }),
        });
        subscription.on('error', () => undefined);
        let seen = 0;
        for await (const { event } of subscription) {
          if (event) seen += 1;
          if (seen === EVENTS) break;
        }
        await subscription.unsubscribe();
      });
    const [adapter, peer] = await alternate(3, [ours, theirs]);
    const name = `${server.name}: feed of ${EVENTS.toLocaleString('en')} events among as many claims and strangers`;
    return [
      compare(name, 'events/s', server.target('>= 0.9'), adapter!, peer!, "plain client's filtered subscription"),
    ];
  } finally {
    await plain.dispose();
    await store.close();
  }
}
