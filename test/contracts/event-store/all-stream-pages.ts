import { expect } from 'vitest';
import type { Position } from '../../../src/platform/kernel/event.ts';
import type { TenantId } from '../../../src/platform/kernel/ids.ts';
import type { EventStore, AllStreamFilter, StoredEvent } from '../../../src/platform/eventstore/port.ts';

/** Page by page to the end. */
export async function readEverything(
  store: EventStore,
  from: Position,
  limit = 1000,
  filter?: AllStreamFilter,
): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  for (let after = from; ;) {
    const page = await store.readAll(after, limit, filter);
    expect(page.events.length).toBeLessThanOrEqual(limit);
    events.push(...page.events);
    if (page.position === after) return events;
    after = page.position;
  }
}

/** The same, for one tenant. */
export const readOn = async (
  store: EventStore,
  from: Position,
  tenant: TenantId,
  limit?: number,
): Promise<StoredEvent[]> => (await readEverything(store, from, limit)).filter(({ tenantId }) => tenantId === tenant);

export function expectRising(events: readonly StoredEvent[]): void {
  const positions = events.map(({ position }) => position);
  expect(positions).toEqual([...new Set(positions)].sort((a, b) => (a < b ? -1 : 1)));
}

export function expectContiguous(after: Position, events: readonly StoredEvent[]): void {
  expect(events.map(({ position }) => position)).toEqual(events.map((_, at) => after + BigInt(at + 1)));
}
