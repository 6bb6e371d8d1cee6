import { createHash, randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { asTenantId, type TenantId } from '../../../src/platform/kernel/ids.ts';
import type {
  Append,
  ClaimKey,
  EventStore,
  NewEvent,
  StoredEvent,
  AppendResult,
} from '../../../src/platform/eventstore/port.ts';

export const newTenant = (): TenantId => asTenantId(randomUUID());
export const newStream = (tenantId: TenantId, category = 'account'): string =>
  `${category}-${tenantId}.${randomUUID()}`;

export const newEvent = (over: Partial<NewEvent> = {}): NewEvent => ({
  id: randomUUID(),
  type: 'AccountRenamed',
  version: 1,
  data: JSON.stringify({ name: 'first' }),
  metadata: {
    actor: { kind: 'admin', id: randomUUID(), ip: '192.0.2.7', userAgent: 'test' },
    correlationId: randomUUID(),
    causationId: randomUUID(),
    commandId: randomUUID(),
  },
  ...over,
});

export const newEvents = (count: number): NewEvent[] => Array.from({ length: count }, () => newEvent());

export const newClaim = (tenantId: TenantId, kind = 'email', value: string = randomUUID()): ClaimKey => ({
  tenantId,
  kind,
  digest: createHash('sha256').update(value).digest('hex'),
});

/** An append to a stream that does not exist yet, unless overridden. */
export const newAppend = (tenantId: TenantId, over: Partial<Append> = {}): Append => ({
  tenantId,
  stream: newStream(tenantId),
  expectedRevision: -1n,
  events: [newEvent()],
  claim: [],
  release: [],
  ...over,
});

export type Appended = Extract<AppendResult, { kind: 'appended' }>;

export async function mustAppend(store: EventStore, append: Append): Promise<Appended> {
  const verdict = await store.append(append);
  expect(verdict).toMatchObject({ kind: 'appended' });
  return verdict as Appended;
}

/** The fields that the port guarantees; a store may keep more. */
export const plain = (events: readonly StoredEvent[]): StoredEvent[] =>
  events.map(({ tenantId, id, type, version, stream, revision, position, recordedAt, data, metadata }) => ({
    tenantId,
    id,
    type,
    version,
    stream,
    revision,
    position,
    recordedAt,
    data,
    metadata,
  }));

export const idsOf = (events: readonly { readonly id: string }[]): string[] => events.map(({ id }) => id);

/** The stream holds these events and no others. */
export async function expectOnce(store: EventStore, append: Pick<Append, 'stream' | 'events'>): Promise<void> {
  expect(idsOf(await store.readStream(append.stream))).toEqual(idsOf(append.events));
}
