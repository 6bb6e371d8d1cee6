import type { Position } from '../kernel/event.ts';

/**
 * Read your writes: a command's answer waits until the read models that it freshens have passed its position.
 * Positions come from this process's own lanes at once, or from the cursors' table when another process projects.
 */
export class Freshness {
  readonly #positions = new Map<string, Position>();
  readonly #waiters = new Set<() => void>();
  readonly #readPositions: (() => Promise<ReadonlyMap<string, Position>>) | undefined;
  #polling: NodeJS.Timeout | undefined;

  /** `readPositions` is for a process without lanes of its own. */
  constructor(readPositions?: () => Promise<ReadonlyMap<string, Position>>) {
    this.#readPositions = readPositions;
  }

  passed(models: readonly string[], position: Position): void {
    for (const name of models) this.#positions.set(name, position);
    for (const check of this.#waiters) check();
  }

  positionOf(model: string): Position | undefined {
    return this.#positions.get(model);
  }

  /** True once all models have passed the position; false when `patience` milliseconds were not enough. */
  async waitFor(models: readonly string[], position: Position, patience = 1_000): Promise<boolean> {
    const fresh = () => models.every((name) => (this.#positions.get(name) ?? -1n) >= position);
    if (fresh()) return true;
    this.#poll();
    return new Promise((resolve) => {
      const settle = (answer: boolean) => {
        clearTimeout(timer);
        this.#waiters.delete(check);
        resolve(answer);
      };
      const check = () => fresh() && settle(true);
      const timer = setTimeout(() => settle(fresh()), patience);
      this.#waiters.add(check);
    });
  }

  /** While somebody waits on another process's work, look at the durable checkpoints every few milliseconds. */
  #poll(): void {
    if (!this.#readPositions || this.#polling) return;
    this.#polling = setInterval(() => {
      if (this.#waiters.size === 0) {
        clearInterval(this.#polling);
        this.#polling = undefined;
        return;
      }
      this.#readPositions!().then(
        (positions) => {
          for (const [name, position] of positions) this.#positions.set(name, position);
          for (const check of this.#waiters) check();
        },
        () => undefined,
      );
    }, 20);
    this.#polling.unref();
  }
}
