import { LRUCache } from 'lru-cache';
import type { Redis } from 'ioredis';
import type { Logger } from 'pino';

export interface RequestCount {
  readonly current: number;
  /** Milliseconds until the window ends. */
  readonly ttl: number;
}

/** Counts requests in fixed windows. */
export interface RequestCounters {
  count(key: string, windowMs: number): Promise<RequestCount>;
}

/** Counts in this process only, for at most `most` clients (LRU). */
export class LocalRequestCounters implements RequestCounters {
  readonly #windows: LRUCache<string, { count: number; ends: number }>;

  constructor(most: number) {
    this.#windows = new LRUCache({ max: most });
  }

  count(key: string, windowMs: number): Promise<RequestCount> {
    return Promise.resolve(this.countNow(key, windowMs));
  }

  countNow(key: string, windowMs: number): RequestCount {
    const now = Date.now();
    let window = this.#windows.get(key);
    if (!window || window.ends <= now) this.#windows.set(key, (window = { count: 0, ends: now + windowMs }));
    window.count += 1;
    return { current: window.count, ttl: window.ends - now };
  }

  /** Goes on from a count that includes other processes, and ends with its window. A lower one changes nothing. */
  learn(key: string, { current, ttl }: RequestCount): void {
    const window = this.#windows.get(key);
    if (!window || window.count > current) return;
    window.count = current;
    window.ends = Date.now() + ttl;
  }
}

const COUNT = `
  local current = redis.call('INCR', KEYS[1])
  local ttl = redis.call('PTTL', KEYS[1])
  if ttl < 0 then
    redis.call('PEXPIRE', KEYS[1], ARGV[1])
    ttl = tonumber(ARGV[1])
  end
  return {current, ttl}`;

/** After a Redis time-out, Redis is not used for this long, so that only one request has to wait. */
const AGAIN_AFTER_MS = 5_000;

/**
 * Counts in Redis, shared by all processes. While Redis is unreachable or hangs, this process counts alone: budgets then apply
 * per process, and no request waits.
 *
 * The process always counts too, and the larger count applies. So nobody gets a new budget when Redis goes, comes back or
 * loses its data. As long as it does none of these, the shared count is never the smaller one: it includes this process.
 */
export class SharedRequestCounters implements RequestCounters {
  readonly #redis: Redis;
  readonly #local: LocalRequestCounters;
  readonly #log: Logger;
  #avoidedUntil = 0;

  constructor(redis: Redis, local: LocalRequestCounters, log: Logger) {
    this.#redis = redis;
    this.#local = local;
    this.#log = log;
  }

  async count(key: string, windowMs: number): Promise<RequestCount> {
    const own = this.#local.countNow(key, windowMs);
    const shared = await this.#countShared(key, windowMs);
    if (!shared) return own;
    this.#local.learn(key, shared);
    return shared.current < own.current ? own : shared;
  }

  async #countShared(key: string, windowMs: number): Promise<RequestCount | undefined> {
    if (performance.now() < this.#avoidedUntil || this.#redis.status !== 'ready') return undefined;
    try {
      const [current, ttl] = (await this.#redis.eval(COUNT, 1, `castellan:rate:${key}`, windowMs)) as [number, number];
      return { current, ttl };
    } catch (error) {
      this.#avoidedUntil = performance.now() + AGAIN_AFTER_MS;
      this.#log.warn({ reason: (error as Error).message }, 'rate limits count per process: Redis does not respond');
      return undefined;
    }
  }
}
