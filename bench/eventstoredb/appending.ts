import { randomUUID } from 'node:crypto';
import { EventStoreDbEventStore } from '../../src/platform/eventstore/eventstoredb/eventstoredb-event-store.ts';
import type { NewEvent } from '../../src/platform/eventstore/port.ts';
import { asTenantId } from '../../src/platform/kernel/ids.ts';
import { alternate, concurrently, perSecond, type Rounds } from '../measure.ts';
import { startPeer } from '../peers/peer.ts';
import type { EventStoreServer } from './server.ts';

export interface Load {
  readonly callers: number;
  /** Appends per round. */
  readonly count: number;
  readonly rounds: number;
  /** Events per append. */
  readonly batch?: number;
  /** Claims per append. */
  readonly claims?: number;
}

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

/** Events per second of the adapter and of the plain client, each in a separate process, in turns. */
export async function appendingBeside(
  server: EventStoreServer,
  { callers, count, rounds, batch = 1, claims = 0 }: Load,
): Promise<{ ours: Rounds; peer: Rounds }> {
  const store = new EventStoreDbEventStore(server.url);
  const plain = await startPeer('eventstoredb-plain.ts', { url: server.url });
  const append = async () => {
    const take = Array.from({ length: claims }, claim);
    const events = Array.from({ length: batch }, event);
    const { kind } = await store.append({
      tenantId: TENANT,
      stream: `alert-${TENANT}.${randomUUID()}`,
      expectedRevision: -1n,
      events,
      claim: take,
      release: [],
    });
    if (kind !== 'appended') throw new Error(`an append was ${kind}`);
  };
  const ours = () => perSecond(count * batch, () => concurrently(callers, count, append));
  const peer = () => plain.ask({ callers, count, batch });
  // Compiled by then, as a service is a minute after its start.
  await ours();
  await peer();
  const [our, their] = await alternate(rounds, [ours, peer]);
  await plain.stop();
  await store.close();
  return { ours: our!, peer: their! };
}
