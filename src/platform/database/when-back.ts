import { FailureError } from '../kernel/failure.ts';
import { isDatabaseUnavailable } from './unavailable.ts';

const AGAIN_MS = 1_000;

type Work = () => Promise<unknown>;

/**
 * Takes back what callers have been told to have failed: now, or, while the database is away, again each second for at most some
 * time. The works must have the same effect however often they run. What is not taken back in time expires.
 */
export class Restitution {
  readonly #waiting = new Map<string, Set<Work>>();

  /** Resolves after the first attempt, and never rejects. `key`: what is taken back. */
  async whenBack(key: string, withinMs: number, work: Work): Promise<void> {
    const ends = performance.now() + withinMs;
    const works = this.#waiting.get(key) ?? new Set();
    this.#waiting.set(key, works.add(work));
    const attempt = async (): Promise<void> => {
      try {
        await work();
      } catch (error) {
        if (isAway(error) && performance.now() < ends) return void setTimeout(() => void attempt(), AGAIN_MS).unref();
      }
      works.delete(work);
      if (works.size === 0) this.#waiting.delete(key);
    };
    await attempt();
  }

  /**
   * For whoever comes again before everything is taken back: takes it back first. Rejects if that still fails, so that the caller
   * is told again to come back, instead of that it was used.
   */
  async first(key: string): Promise<void> {
    for (const work of this.#waiting.get(key) ?? []) await work();
  }
}

const isAway = (error: unknown): boolean =>
  isDatabaseUnavailable(error) || (error instanceof FailureError && error.failure.kind === 'unavailable');
