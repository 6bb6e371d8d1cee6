import { setImmediate as nextTurn } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { TenantId } from '../kernel/ids.ts';
import { ConcurrencyLimiter } from '../projector/concurrency-limiter.ts';
import type { HeldNumbers, Numbering, ProjectedNumbers } from './held-numbers.ts';
import { freeNumbers, scarceNumbers, type NumberLimit } from './number-search.ts';
import { OfferedNumbers } from './offered-numbers.ts';

/**
 * Finds numbers that are not held. Only the append that claims a number decides; a caller that loses the claim searches
 * again.
 */
export interface FreeNumbers {
  /**
   * Undefined only if all numbers were held at some moment after the call: a number released before the call is found.
   */
  one(tenantId: TenantId, kind: string, limit: NumberLimit): Promise<number | undefined>;
  /** Returns up to `most` numbers; fewer only if there are no more. */
  several(tenantId: TenantId, kind: string, limit: NumberLimit, most: number): Promise<readonly number[]>;
}

/** Concurrent searches of all tenants in one process. Each costs a few queries. */
const SEARCHES_AT_ONCE = 4;
/**
 * Other callers may claim numbers that were found free. After this many attempts the claims themselves are searched.
 */
const ATTEMPTS = 3;
/** How long after a search that found too few numbers the next one expects the same. */
const SCARCE_MS = 5_000;
const MAX_SCARCE = 1_000;

interface Caller {
  readonly most: number;
  readonly found: (numbers: readonly number[]) => void;
  readonly fail: (error: unknown) => void;
}

interface Search {
  readonly numbering: Numbering;
  readonly limit: NumberLimit;
  /** Callers that the next search serves. */
  readonly callers: Caller[];
}

/**
 * Runs one search at a time for a numbering, shared by its callers. A call during a search joins the next one: the
 * running search may have passed a number that was released before the call.
 *
 * The read side suggests numbers. While it is behind, it is trusted with nothing else: if a suggested number is held,
 * its claim fails. Only after it has caught up with the log may it report that nothing is free. If it cannot catch up,
 * the claims themselves are searched.
 */
export class NumberFinder implements FreeNumbers {
  readonly #claims: HeldNumbers;
  readonly #projected: ProjectedNumbers;
  readonly #searches = new Map<string, Search>();
  readonly #limiter = new ConcurrencyLimiter(SEARCHES_AT_ONCE);
  readonly #offered = new OfferedNumbers();
  /** Searches that have just found too few: the read side need not be asked for a hint first. */
  readonly #scarce = new LRUCache<string, true>({ max: MAX_SCARCE, ttl: SCARCE_MS });

  constructor(claims: HeldNumbers, projected: ProjectedNumbers) {
    this.#claims = claims;
    this.#projected = projected;
  }

  async one(tenantId: TenantId, kind: string, limit: NumberLimit): Promise<number | undefined> {
    return (await this.several(tenantId, kind, limit, 1))[0];
  }

  several(tenantId: TenantId, kind: string, limit: NumberLimit, most: number): Promise<readonly number[]> {
    return new Promise((found, fail) => {
      const name = `${tenantId}/${kind}/${limit.granted}/${limit.everGranted}`;
      const caller = { most, found, fail };
      const search = this.#searches.get(name);
      if (search) return void search.callers.push(caller);
      const begun: Search = { numbering: { tenantId, kind }, limit, callers: [caller] };
      this.#searches.set(name, begun);
      void this.#serve(name, begun);
    });
  }

  async #serve(name: string, search: Search): Promise<void> {
    // Callers of the same tick join the first search.
    await nextTurn();
    while (search.callers.length > 0) await this.#limiter.run(() => this.#serveOnce(name, search));
    this.#searches.delete(name);
  }

  async #serveOnce(name: string, { numbering, limit, callers }: Search): Promise<void> {
    const served = callers.splice(0);
    try {
      const wanted = served.reduce((sum, { most }) => sum + most, 0);
      const numbers = await this.#search(numbering, limit, wanted, this.#scarce.has(name));
      if (numbers.length < wanted) this.#scarce.set(name, true);
      else this.#scarce.delete(name);
      this.#offered.add(numbering, numbers);
      let at = 0;
      for (const { most, found } of served) {
        found(shareOf(numbers, at, most));
        at += most;
      }
    } catch (error) {
      for (const { fail } of served) fail(error);
    }
  }

  async #search(
    numbering: Numbering,
    limit: NumberLimit,
    wanted: number,
    isScarce: boolean,
  ): Promise<readonly number[]> {
    const hinted = isScarce ? [] : await this.#hinted(numbering, limit, wanted);
    if (hinted.length >= wanted) return hinted;
    return (
      (await this.#currentlyFree(numbering, limit, wanted)) ??
      freeNumbers(limit, wanted, (numbers) => this.#claims.heldAmong(numbering, numbers))
    );
  }

  /**
   * Searches the read side without waiting for it. Skips numbers that this process has just offered, as they will soon
   * be held. Not used after a limit was lowered: then the usable numbers depend on the held ones, which must be exact.
   */
  async #hinted(numbering: Numbering, limit: NumberLimit, wanted: number): Promise<readonly number[]> {
    if (limit.granted < limit.everGranted) return [];
    try {
      return await freeNumbers(limit, wanted, async (numbers) => {
        const held = await this.#projected.heldAmong(numbering, numbers);
        return new Set([...held, ...this.#offered.among(numbering, numbers)]);
      });
    } catch {
      return [];
    }
  }

  /**
   * Searches the caught-up read side, and checks its free numbers against the claims. Undefined if the read side cannot
   * tell.
   */
  async #currentlyFree(
    numbering: Numbering,
    limit: NumberLimit,
    wanted: number,
  ): Promise<readonly number[] | undefined> {
    try {
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        if (!(await this.#projected.catchUp())) return undefined;
        const free = await scarceNumbers(limit, wanted, (numbers) => this.#projected.heldAmong(numbering, numbers));
        const held = await this.#claims.heldAmong(numbering, free);
        // Either all of them were claimed meanwhile, or the read side lacks claims.
        if (free.length === 0 || held.size < free.length) return free.filter((number) => !held.has(number));
      }
    } catch {
      // The caller searches the claims instead.
    }
    return undefined;
  }
}

/**
 * Deals the numbers out in turns. If there are fewer than callers, several callers get the same number, and its claim
 * decides.
 */
function shareOf(numbers: readonly number[], from: number, most: number): number[] {
  return Array.from({ length: Math.min(most, numbers.length) }, (_, at) => numbers[(from + at) % numbers.length]!);
}
