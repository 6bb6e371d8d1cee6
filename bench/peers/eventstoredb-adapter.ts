import { randomUUID } from 'node:crypto';
import { EventStoreDbEventStore } from '../../src/platform/eventstore/eventstoredb/eventstoredb-event-store.ts';
import type { NewEvent } from '../../src/platform/eventstore/port.ts';
import { asTenantId } from '../../src/platform/kernel/ids.ts';
import { concurrently, perSecond } from '../measure.ts';
import { peerConfig, servePeer } from './peer.ts';

const store = new EventStoreDbEventStore(peerConfig()['url'] as string);
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
const claim = () => ({ tenantId: TENANT, kind: 'bench', digest: randomUUID().replaceAll('-', '').repeat(2) });

async function append(batch: number, claims: number): Promise<void> {
  const { kind } = await store.append({
    tenantId: TENANT,
    stream: `alert-${TENANT}.${randomUUID()}`,
    expectedRevision: -1n,
    events: Array.from({ length: batch }, event),
    claim: Array.from({ length: claims }, claim),
    release: [],
  });
  if (kind !== 'appended') throw new Error(`an append was ${kind}`);
}

servePeer(({ callers, count, batch, claims }) =>
  perSecond(count! * batch!, () => concurrently(callers!, count!, () => append(batch!, claims!))),
);
