import type { EventStore, StoredEvent } from '../eventstore/port.ts';

/** 24 h, the lifetime of an idempotency key, plus an hour for clock differences between servers. */
const SEARCH_BACK_MS = 25 * 3_600_000;
const FIRST_LIMIT = 256;
const GROWTH = 8;

/**
 * Finds the events that a command with this id has already appended: every event names its command. Reads backwards, as
 * far as an idempotency key lives, without any cache. Returns the events in stream order.
 */
export async function findOwnAppend(store: EventStore, stream: string, commandId: string): Promise<StoredEvent[]> {
  for (let limit = FIRST_LIMIT; ; limit *= GROWTH) {
    const tail = await store.readStreamTail(stream, limit);
    const events = tail.filter(({ metadata }) => metadata.commandId === commandId);
    const [oldest] = tail;
    const isComplete = tail.length < limit || events[0] !== oldest;
    const isFarEnough = tail.length < limit || oldest!.recordedAt < Date.now() - SEARCH_BACK_MS;
    if (events.length > 0 ? isComplete : isFarEnough) return events;
  }
}
