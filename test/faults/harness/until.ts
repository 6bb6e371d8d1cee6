import { setTimeout as sleep } from 'node:timers/promises';

/** The awaited condition can no longer occur. */
export class Hopeless extends Error {}

/**
 * Waits until `condition` returns a truthy value; rejects with `what` when it does not within the time. An error counts
 * as "not yet", unless it is `Hopeless`.
 */
export async function until<T>(
  what: string | (() => string),
  withinMs: number,
  condition: () => T | Promise<T>,
): Promise<NonNullable<T>> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const met = await Promise.resolve()
      .then(condition)
      .catch((error: unknown) => {
        if (error instanceof Hopeless) throw error;
        return undefined;
      });
    if (met) return met as NonNullable<T>;
    if (Date.now() > deadline)
      throw new Error(`not within ${withinMs} ms: ${typeof what === 'string' ? what : what()}`);
    await sleep(50);
  }
}
