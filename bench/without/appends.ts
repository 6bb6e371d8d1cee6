import { randomUUID } from 'node:crypto';
import { PostgresEventStore } from '../../src/platform/eventstore/postgres/postgres-event-store.ts';
import { asTenantId } from '../../src/platform/kernel/ids.ts';
import { appendOf } from '../appends.ts';
import { startBenchServer } from '../database.ts';
import { concurrently, perSecond } from '../measure.ts';
import type { Running } from './running.ts';

const WARM = 6_000;

/** Durable appends of one event each, a claim on every tenth. */
export async function appends(callers: number, count: number): Promise<Running> {
  const server = await startBenchServer();
  await server.age();
  const { database, config, drop } = await server.database();
  const store = new PostgresEventStore(database.store, config);
  const tenantId = asTenantId(randomUUID());
  const some = (number: number) =>
    perSecond(number, () => concurrently(callers, number, (n) => store.append(appendOf(tenantId, 1, n % 10 === 0))));
  await some(callers === 1 ? WARM / 2 : WARM);
  return {
    round: () => some(count),
    stop: async () => {
      await store.close();
      await drop();
      await server.stop();
    },
  };
}
