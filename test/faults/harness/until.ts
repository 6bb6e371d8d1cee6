import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until `condition` returns something true; rejects with `what` when it does not within the time. An error counts as "not yet". */
export async function until<T>(what: string | (() => string), withinMs: number, condition: () => T | Promise<T>): Promise<NonNullable<T>> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const met = await Promise.resolve()
      .then(condition)
      .catch(() => undefined);
    if (met) return met as NonNullable<T>;
    if (Date.now() > deadline) throw new Error(`not within ${withinMs} ms: ${typeof what === 'string' ? what : what()}`);
    await sleep(50);
  }
}
