import { TimedOut } from './failures.ts';

/** How many calls may be under way at once; the others wait in line, each no longer than it has time. */
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

  #wait(patienceMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const enter = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(enter);
        reject(new TimedOut(patienceMs));
      }, patienceMs);
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
