import { randomUUID } from 'node:crypto';
import {
  getPostgreSQLEventStore,
  postgreSQLEventStoreConsumer,
  postgreSQLRawBatchSQLProjection,
} from '@event-driven-io/emmett-postgresql';
import { SQL } from '@event-driven-io/dumbo';
import { perSecond } from '../measure.ts';
import { peerConnectionString, servePeer } from './peer.ts';

const connectionString = peerConnectionString();
const store = getPostgreSQLEventStore(connectionString);
await store.schema.migrate?.();
const COUNT = 4_000;
for (let n = 0; n < COUNT; n += 100) {
  const events = Array.from({ length: 100 }, () => ({
    type: 'AlertRaised',
    data: { alertId: randomUUID(), severity: 'medium', domain: 'shop.example.com' },
    metadata: {},
  }));
  await store.appendToStream(`alert-${randomUUID()}`, events);
}

/** Emmett's way to rebuild: a batch projection with a checkpoint, from the beginning, until nothing is left. */
servePeer(async ({ count, batch }) => {
  const name = `counter_${randomUUID().slice(0, 8)}`;
  const projection = postgreSQLRawBatchSQLProjection({
    name,
    canHandle: ['AlertRaised'],
    init: () =>
      SQL`create table if not exists emmett_counter (on_day date, severity text, raised integer, primary key (on_day, severity))`,
    evolve: (events: readonly unknown[]) => [
      SQL`insert into emmett_counter values (current_date, 'medium', ${events.length}) on conflict (on_day, severity) do update set raised = emmett_counter.raised + excluded.raised`,
    ],
  });
  const consumer = postgreSQLEventStoreConsumer({
    connectionString,
    pulling: { batchSize: batch! },
    stopWhen: { noMessagesLeft: true },
  });
  consumer.projector({ processorId: name, projection, startFrom: 'BEGINNING' } as never);
  return perSecond(Math.min(count!, COUNT), async () => {
    await consumer.start();
    await consumer.close();
  });
});
