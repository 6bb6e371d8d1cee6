import { setImmediate as nextTick } from 'node:timers/promises';

/**
 * Computes a result for each item, and lets other requests run in between: the handoffs of hundreds of schedules, none
 * of them computed before, take a second.
 */
export async function oneAtATime<Item, Result>(
  items: readonly Item[],
  compute: (item: Item) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const item of items) {
    results.push(compute(item));
    await nextTick();
  }
  return results;
}
