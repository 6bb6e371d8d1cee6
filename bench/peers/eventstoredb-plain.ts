import { randomUUID } from 'node:crypto';
import { EventStoreDBClient, jsonEvent, NO_STREAM } from '@eventstore/db-client';
import { concurrently, perSecond } from '../measure.ts';
import { peerConfig, servePeer } from './peer.ts';

const client = EventStoreDBClient.connectionString(peerConfig()['url'] as string);
/** About as large as the adapter's events, but not recognized by the service as its own. */
const event = () =>
  jsonEvent({
    type: 'AlertRaised',
    data: {
      alertId: randomUUID(),
      title: 'Password reuse',
      description: 'x'.repeat(120),
      severity: 'medium',
      domain: 'example.com',
    },
    metadata: {
      actor: { kind: 'system', id: null },
      $correlationId: randomUUID(),
      $causationId: randomUUID(),
      commandId: randomUUID(),
      correlationId: randomUUID(),
      causationId: randomUUID(),
      tenant: randomUUID(),
      schema: 1,
      recordedAt: Date.now(),
    },
  });

servePeer(({ callers, count, batch }) =>
  perSecond(count! * batch!, () =>
    concurrently(callers!, count!, () =>
      client.appendToStream(`plain-${randomUUID()}`, Array.from({ length: batch! }, event), {
        expectedRevision: NO_STREAM,
      }),
    ),
  ),
);
