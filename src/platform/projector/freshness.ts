import type { Position } from '../kernel/event.ts';
import type { ReadModelName } from '../kernel/read-model-name.ts';
import { whenAborted } from '../kernel/when-aborted.ts';

/** The durable checkpoints, needed while another process holds lanes. */
export interface DurableCheckpoints {
  isNeeded(): boolean;
  readPositions(): Promise<ReadonlyMap<string, Position>>;
}

/**
 * A timer that fires this late shows that the whole process was suspended, including its lanes. That time is not
 * counted, once per wait.
 */
const STOOD_STILL_MS = 100;

/**
 * Read your writes: a command's response waits until the read models that it freshens have passed its position.
 * Positions come from this process's own lanes, or from the table `cursors` if another process projects.
 */
export class Freshness {
  #positions = new Map<string, Position>();
  readonly #waiters = new Set<() => void>();
  readonly #leisurely = new Set<() => void>();
  readonly #elsewhere: DurableCheckpoints | undefined;
  #polling: NodeJS.Timeout | undefined;

  constructor(elsewhere?: DurableCheckpoints) {
    this.#elsewhere = elsewhere;
  }

  /** True while a caller waits for a read model. */
  get isAwaited(): boolean {
    return this.#waiters.size > 0;
  }

  passed(models: readonly string[], position: Position): void {
    for (const name of models) this.#positions.set(name, position);
    for (const check of this.#waiters) check();
  }

  /** Drops all known positions, and what a poll in progress brings; they are read again or reported again. */
  forget(): void {
    this.#positions = new Map();
  }

  positionOf(model: string): Position | undefined {
    return this.#positions.get(model);
  }

  /** Returns true once all models have passed the position, or false after `timeoutMs` milliseconds. */
  async waitFor(models: readonly ReadModelName[], position: Position, timeoutMs = 1_000): Promise<boolean> {
    const fresh = () => models.every((name) => (this.#positions.get(name) ?? -1n) >= position);
    if (fresh()) return true;
    this.#poll();
    return new Promise((resolve) => {
      const deadline = performance.now() + timeoutMs;
      let isExcused = false;
      const settle = (isFresh: boolean) => {
        clearTimeout(timer);
        this.#waiters.delete(check);
        resolve(isFresh);
      };
      const check = () => fresh() && settle(true);
      const giveUp = () => {
        const stoodStill = !isExcused && performance.now() - deadline > STOOD_STILL_MS;
        if (!stoodStill || fresh()) return settle(fresh());
        isExcused = true;
        timer = setTimeout(giveUp, timeoutMs);
      };
      let timer = setTimeout(giveUp, timeoutMs);
      this.#waiters.add(check);
      for (const hurry of this.#leisurely) hurry();
    });
  }

  /** Waits `ms` milliseconds, or less if a caller starts to wait for a read model. */
  async idle(ms: number, signal: AbortSignal): Promise<void> {
    if (this.isAwaited || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const hurry = () => {
        clearTimeout(timer);
        forget();
        this.#leisurely.delete(hurry);
        resolve();
      };
      const timer = setTimeout(hurry, ms);
      const forget = whenAborted(signal, hurry);
      this.#leisurely.add(hurry);
    });
  }

  /** While a caller waits for another process's lanes, polls the durable checkpoints every few milliseconds. */
  #poll(): void {
    if (!this.#elsewhere?.isNeeded() || this.#polling) return;
    this.#polling = setInterval(() => {
      if (this.#waiters.size === 0) {
        clearInterval(this.#polling);
        this.#polling = undefined;
        return;
      }
      const known = this.#positions;
      this.#elsewhere!.readPositions().then(
        (positions) => {
          if (known !== this.#positions) return;
          for (const [name, position] of positions) if (position > (known.get(name) ?? -1n)) known.set(name, position);
          for (const check of this.#waiters) check();
        },
        () => undefined,
      );
    }, 20);
    this.#polling.unref();
  }
}
