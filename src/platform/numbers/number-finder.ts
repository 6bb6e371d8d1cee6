import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TenantId } from '../kernel/ids.ts';
import { ConcurrencyLimiter } from '../projector/concurrency-limiter.ts';
import type { HeldNumbers, Numbering, ProjectedNumbers } from './held-numbers.ts';
import { freeNumbers, type NumberLimit } from './number-search.ts';
import { OfferedNumbers } from './offered-numbers.ts';

/** Finds numbers that nobody holds. The append that claims one decides; a caller that lost it asks again. */
export interface FreeNumbers {
  /** Undefined where all of them were held at some moment after the call: a number released before it is found. */
  one(tenantId: TenantId, kind: string, limit: NumberLimit): Promise<number | undefined>;
  /** Up to `most` of them; fewer only where there were no more. */
  several(tenantId: TenantId, kind: string, limit: NumberLimit, most: number): Promise<readonly number[]>;
}

/** Searches at a time of all tenants, in one process. Each costs a few queries. */
const SEARCHES_AT_ONCE = 4;
/** Others may take what was found free; after so many looks the read side is not believed any more. */
const LOOKS = 3;

interface Caller {
  readonly most: number;
  readonly found: (numbers: readonly number[]) => void;
  readonly fail: (error: unknown) => void;
}

interface Search {
  readonly numbering: Numbering;
  readonly limit: NumberLimit;
  /** Those for whom the next search is made. */
  readonly callers: Caller[];
}

/**
 * One search at a time for a numbering, shared by its callers. Who calls while one runs takes part in the next: a search
 * that began earlier may have passed a number that was released before this call.
 *
 * The read side says which numbers are worth a try, and that is all it is trusted with while it is behind: a number that it
 * wrongly shows as free is refused by its claim. It may say that nothing is free only after it has caught up with
 * the log. While it cannot, the claims themselves are searched.
 */
export class NumberFinder implements FreeNumbers {
  readonly #claims: HeldNumbers;
  readonly #projected: ProjectedNumbers;
  readonly #searches = new Map<string, Search>();
  readonly #limiter = new ConcurrencyLimiter(SEARCHES_AT_ONCE);
  readonly #offered = new OfferedNumbers();

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
    // Callers of the same turn of the event loop take part in the first search.
    await nextTurn();
    while (search.callers.length > 0) await this.#limiter.run(() => this.#serveOnce(search));
    this.#searches.delete(name);
  }

  async #serveOnce({ numbering, limit, callers }: Search): Promise<void> {
    const served = callers.splice(0);
    try {
      const wanted = served.reduce((sum, { most }) => sum + most, 0);
      const numbers = await this.#search(numbering, limit, wanted);
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

  async #search(numbering: Numbering, limit: NumberLimit, wanted: number): Promise<readonly number[]> {
    const hinted = await this.#hinted(numbering, limit, wanted);
    if (hinted.length >= wanted) return hinted;
    return (
      (await this.#currentlyFree(numbering, limit, wanted)) ??
      freeNumbers(limit, wanted, (numbers) => this.#claims.heldAmong(numbering, numbers))
    );
  }

  /**
   * Without waiting for the read side, and passing over what this process has just offered, which is about to be held. Not where
   * a lower limit followed a higher one: how many numbers are usable then depends on which are held, and must not be a guess.
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

  /** By the read side as of now; what it calls free is compared with the claims. Undefined where it cannot say. */
  async #currentlyFree(
    numbering: Numbering,
    limit: NumberLimit,
    wanted: number,
  ): Promise<readonly number[] | undefined> {
    try {
      for (let look = 0; look < LOOKS; look += 1) {
        if (!(await this.#projected.catchUp())) return undefined;
        const free = await freeNumbers(limit, wanted, (numbers) => this.#projected.heldAmong(numbering, numbers));
        const held = await this.#claims.heldAmong(numbering, free);
        // All of them were taken meanwhile, or it lacks what the claims know.
        if (free.length === 0 || held.size < free.length) return free.filter((number) => !held.has(number));
      }
    } catch {
      // The claims themselves are searched.
    }
    return undefined;
  }
}

/** Numbers in turns: where there are fewer than callers, several get the same one, and its claim decides. */
function shareOf(numbers: readonly number[], from: number, most: number): number[] {
  return Array.from({ length: Math.min(most, numbers.length) }, (_, at) => numbers[(from + at) % numbers.length]!);
}
