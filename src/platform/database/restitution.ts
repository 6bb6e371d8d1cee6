import { TooBusy } from '../fairness/fair-limiter.ts';
import { FailureError } from '../kernel/failure.ts';

const AGAIN_MS = 1_000;
/** The process ends. */
const AT_LAST_MS = 250;
const AT_ONCE_AT_LAST = 8;
/** Anybody can be owed something during an outage, also for a token that does not exist. */
const MOST = 20_000;

interface Debt {
  readonly key: string;
  /** Of `performance.now()`. */
  readonly ends: number;
  /** Has the same effect however often it runs. */
  readonly work: () => Promise<unknown>;
  /** An attempt that has not ended. */
  underWay: Promise<Outcome> | undefined;
}

/** A debt that is `waiting` or `away` remains. */
type Outcome = 'ended' | 'waiting' | 'away';

/**
 * Takes back what callers have been told to have failed: now, or, while the database is away, again each second for at most some
 * time. What is not taken back in time expires, and so does what comes when too much is waiting.
 */
export class Restitution {
  readonly #owed = new Set<Debt>();
  readonly #ofKey = new Map<string, Set<Debt>>();
  #isComing = false;

  /** Resolves after the first attempt, and never rejects. `key`: what is taken back. */
  async whenBack(key: string, withinMs: number, work: Debt['work']): Promise<void> {
    const debt: Debt = { key, ends: performance.now() + withinMs, work, underWay: undefined };
    if (this.#owed.size < MOST) this.#add(debt);
    await this.#pay(debt);
    this.#comeAgain();
  }

  /**
   * For whoever comes again before everything is taken back: takes it back first. Rejects if that still fails, so that the caller
   * is told again to come back, instead of that it was used.
   */
  async first(key: string): Promise<void> {
    for (const { work } of this.#ofKey.get(key) ?? []) await work();
  }

  /** For a process that ends: resolves when nothing is owed any more, or after this time. */
  async settled(withinMs: number): Promise<void> {
    const ends = performance.now() + withinMs;
    while (this.#owed.size > 0 && performance.now() < ends) {
      await Promise.race([this.#payAtOnce(), after(ends - performance.now())]);
      if (this.#owed.size > 0) await after(AT_LAST_MS);
    }
  }

  /** Several at a time: a slow database would have no time for one after another. */
  async #payAtOnce(): Promise<void> {
    const owed = [...this.#owed].values();
    let isAway = false;
    await Promise.all(
      Array.from({ length: AT_ONCE_AT_LAST }, async () => {
        for (const debt of owed) if (isAway || (await this.#pay(debt)) === 'away') isAway = true;
      }),
    );
  }

  #add(debt: Debt): void {
    this.#owed.add(debt);
    this.#ofKey.set(debt.key, (this.#ofKey.get(debt.key) ?? new Set()).add(debt));
  }

  #drop(debt: Debt): void {
    this.#owed.delete(debt);
    const others = this.#ofKey.get(debt.key);
    others?.delete(debt);
    if (others?.size === 0) this.#ofKey.delete(debt.key);
  }

  /** A slow database is not asked twice at a time for the same. */
  #pay(debt: Debt): Promise<Outcome> {
    debt.underWay ??= this.#attempt(debt).finally(() => (debt.underWay = undefined));
    return debt.underWay;
  }

  async #attempt(debt: Debt): Promise<Outcome> {
    try {
      await debt.work();
    } catch (error) {
      if (mayComeYet(error) && performance.now() < debt.ends) return isOwnFault(error) ? 'waiting' : 'away';
    }
    this.#drop(debt);
    return 'ended';
  }

  #comeAgain(): void {
    if (this.#isComing || this.#owed.size === 0) return;
    this.#isComing = true;
    setTimeout(() => void this.#payAll(), AGAIN_MS).unref();
  }

  /**
   * One after another: a database that has just come back has other work. Ends with the first that finds it away. Whoever has too
   * many requests at once holds up nobody else: what is owed to them goes behind the rest.
   */
  async #payAll(): Promise<void> {
    // Each once, although some move to the end.
    const owed = [...this.#owed];
    for (const debt of owed) {
      const outcome = await this.#pay(debt);
      if (outcome === 'away') break;
      if (outcome === 'waiting' && this.#owed.delete(debt)) this.#owed.add(debt);
    }
    this.#isComing = false;
    this.#comeAgain();
  }
}

const after = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

const isOwnFault = (error: unknown): boolean => error instanceof TooBusy && error.isOwnShare;

/** A decision is final; what an outage, a full queue or a mistake has prevented may still come. */
const mayComeYet = (error: unknown): boolean =>
  !(error instanceof FailureError) || error.failure.kind === 'unavailable';
