import { randomUUID } from 'node:crypto';
import { getPostgreSQLEventStore } from '@event-driven-io/emmett-postgresql';
import { concurrently, perSecond } from '../measure.ts';
import { peerConnectionString, servePeer } from './peer.ts';

const store = getPostgreSQLEventStore(peerConnectionString());
const event = () => ({
  type: 'AlertRaised',
  data: {
    alertId: randomUUID(),
    title: 'Password reuse',
    description: 'x'.repeat(120),
    severity: 'medium',
    domain: 'example.com',
  },
  metadata: { correlationId: randomUUID(), causationId: randomUUID(), commandId: randomUUID() },
});
await store.schema.migrate?.();
await store.appendToStream(`alert-${randomUUID()}`, [event()]);

servePeer(({ callers, count, batch }) =>
  perSecond(count! * batch!, () =>
    concurrently(callers!, count!, () =>
      store.appendToStream(`alert-${randomUUID()}`, Array.from({ length: batch! }, event), {
        expectedStreamVersion: 0n,
      } as never),
    ),
  ),
);
