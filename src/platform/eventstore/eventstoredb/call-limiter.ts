import { TimedOut } from './failures.ts';

/** Limits concurrent calls. Further calls wait in order, each at most for its own timeout. */
export class CallLimiter {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(most: number) {
    this.#free = most;
  }

  async run<T>(timeoutMs: number, work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await this.#wait(timeoutMs);
    try {
      return await work();
    } finally {
      this.#handOn();
    }
  }

  #wait(timeoutMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const enter = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(enter);
        reject(new TimedOut(timeoutMs));
      }, timeoutMs);
      this.#waiting.add(enter);
    });
  }

  #handOn(): void {
    const [next] = this.#waiting;
    if (!next) {
      this.#free += 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
