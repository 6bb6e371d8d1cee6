/** SQLSTATE of `in_time` (`migrations/054_in_time.sql`): the statement came too late, and has done nothing. */
export const CAME_TOO_LATE = 'CA002';

/** As PostgreSQL tells it: epoch milliseconds. */
export const SERVER_NOW = 'floor(extract(epoch from clock_timestamp()) * 1000)::float8 as server_now';

/** A response that took longer shows an earlier time than there is. */
const PROMPT_MS = 1_000;

/**
 * The clock of a database server, as its newest prompt response showed it, to say until when a statement counts there. A
 * deadline may be up to `PROMPT_MS` too early, and follows the server's clock wherever that is set.
 */
export class ServerClock {
  /** What the server's clock showed when `performance.now()` was 0. */
  #offset: number | undefined;

  /** A response showed this time, in epoch milliseconds, to what was asked at this moment of `performance.now()`. */
  heard(serverNow: number, askedAt: number): void {
    if (performance.now() - askedAt > PROMPT_MS) return;
    this.#offset = serverNow - performance.now();
  }

  /** A parameter of `in_time`: this many milliseconds from now. Null if the server's time is not known yet, and for 0. */
  deadlineIn(milliseconds: number): string | null {
    if (this.#offset === undefined || milliseconds === 0) return null;
    return String(Math.round(this.#offset + performance.now() + milliseconds));
  }

  /** A statement came too late: perhaps because the server's clock was set forward. */
  forget(): void {
    this.#offset = undefined;
  }

  /** Rethrows; forgets the time if the statement came too late. */
  readonly failed = (error: unknown): never => {
    if ((error as { code?: unknown } | undefined)?.code === CAME_TOO_LATE) this.forget();
    throw error;
  };
}
