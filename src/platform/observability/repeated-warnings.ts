import type { Logger } from 'pino';

const PERIOD_MS = 60_000;

/**
 * Warnings that a dependency that is away causes many times a second, from each part that uses it: one line a minute for
 * each message, with the number of those that were left out since the line before.
 */
export class RepeatedWarnings {
  readonly #log: Pick<Logger, 'warn'>;
  readonly #now: () => number;
  readonly #told = new Map<string, { at: number; leftOut: number }>();

  constructor(log: Pick<Logger, 'warn'>, now: () => number = () => performance.now()) {
    this.#log = log;
    this.#now = now;
  }

  /** `message` is a fixed text. */
  warn(fields: object, message: string): void {
    const now = this.#now();
    const told = this.#told.get(message);
    if (told && now - told.at < PERIOD_MS) {
      told.leftOut += 1;
      return;
    }
    this.#told.set(message, { at: now, leftOut: 0 });
    this.#log.warn({ ...fields, ...(told && told.leftOut > 0 ? { leftOut: told.leftOut } : {}) }, message);
  }
}
