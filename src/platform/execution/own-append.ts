import type { Position } from '../kernel/event.ts';
import type { EventStore, StoredEvent } from '../eventstore/port.ts';

/** 24 h, the lifetime of an idempotency key, plus an hour for clock differences between servers. */
const SEARCH_BACK_MS = 25 * 3_600_000;
const FIRST_LIMIT = 256;
const GROWTH = 8;

/**
 * Finds the events that a command with this id has already appended: every event names its command. Reads backwards,
 * without any cache: to the position behind which the command appends, or as far as an idempotency key lives. Returns the
 * events in stream order.
 */
export async function findOwnAppend(
  store: EventStore,
  stream: string,
  commandId: string,
  behind?: Position,
): Promise<StoredEvent[]> {
  const isOlder = ({ position, recordedAt }: StoredEvent) =>
    behind === undefined ? recordedAt < Date.now() - SEARCH_BACK_MS : position <= behind;
  for (let limit = FIRST_LIMIT; ; limit *= GROWTH) {
    const tail = await store.readStreamTail(stream, limit);
    const events = tail.filter(({ metadata }) => metadata.commandId === commandId);
    const [oldest] = tail;
    const isComplete = tail.length < limit || events[0] !== oldest;
    const isFarEnough = tail.length < limit || isOlder(oldest!);
    if (events.length > 0 ? isComplete : isFarEnough) return events;
  }
}
