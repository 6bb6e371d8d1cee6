import { isDatabaseUnavailable } from './unavailable.ts';

const AGAIN_MS = 1_000;

/**
 * Takes something back whose caller has been told that it failed: now, or, while the database is away, again each second for
 * at most this many milliseconds. The work must have the same effect however often it runs. Resolves after the first attempt,
 * and never rejects: what is not taken back in time expires.
 */
export async function whenBack(withinMs: number, work: () => Promise<unknown>): Promise<void> {
  const ends = performance.now() + withinMs;
  const attempt = async (): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (isDatabaseUnavailable(error) && performance.now() < ends) setTimeout(() => void attempt(), AGAIN_MS).unref();
    }
  };
  await attempt();
}
