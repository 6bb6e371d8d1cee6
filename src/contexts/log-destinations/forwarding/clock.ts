import { setTimeout as sleep } from 'node:timers/promises';

/** Time, so that tests can let hours pass. `sleep` ends early, without an error, if the signal is aborted. */
export interface Clock {
  now(): number;
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (milliseconds, signal) => sleep(milliseconds, undefined, { signal }).catch(() => undefined),
};
