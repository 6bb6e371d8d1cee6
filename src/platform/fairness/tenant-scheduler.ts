import type { TenantId } from '../kernel/ids.ts';
import { TooBusy } from './fair-limiter.ts';
import { FairQueue } from './fair-queue.ts';
import { LoadMonitor } from './load-monitor.ts';

/** Requests that one tenant may have in work at once: as good as no limit. */
const MOST = 32;
/** One at a time, and a rest of the same length after it. */
const LEAST = 0.5;
const SHRINK = 0.5;
const GROW = 1.04;
/** Near where short requests had to wait the last time. */
const GROW_CAREFULLY = 1.01;
const LOOK_EVERY_MS = 100;
/** A database that keeps a short question waiting for so long is frozen or away, which is no tenant's doing. */
const STANDSTILL_MS = 1_000;
/** A tenant that asked for nothing for so long is nobody's rival. */
const ABSENT_AFTER_MS = 10_000;
const LONGEST_REST_MS = 500;
/** Their bodies are in memory. */
const WAITING = 512;
const WAITING_PER_GROUP = 256;
const WAITING_PER_CALLER = 64;
const WAIT_MS = 10_000;
/** What takes longer waits for somebody else (a slow upload, a long export), and keeps nobody from a turn. */
const LONGEST_TURN_MS = 2_000;
/** Beyond these, strangers have no group of their own. */
const MAX_GROUPS = 5_000;

interface Waiter {
  readonly path: readonly [group: string, caller: string];
  readonly begin: () => void;
  readonly timer: NodeJS.Timeout;
}

interface Presence {
  readonly isTenant: boolean;
  seenAt: number;
  working: number;
  resting: number;
  /** Milliseconds of work since the latest look. */
  worked: number;
}

/** The end of a turn; any number of times is once. */
export type EndTenantSlot = () => void;

/**
 * Keeps short requests short for all tenants: while they are kept waiting (`LoadMonitor`) and several tenants are here, each may have fewer
 * and fewer requests in work, down to one at a time with a rest after it, until the wait is over. What a tenant asks beyond that waits,
 * its callers by turns. A tenant that asks for little notices nothing, and one that is alone has no limit.
 */
export class TenantScheduler {
  readonly #loadMonitor = new LoadMonitor();
  readonly #present = new Map<string, Presence>();
  readonly #waiting = new FairQueue<Waiter>();
  readonly #probe: () => Promise<unknown>;
  #share = MOST;
  /** The share at which short requests had to wait the last time. */
  #tooMuch = MOST;
  #wasFelt = false;
  #timer: NodeJS.Timeout | undefined;
  #probedAt: number | undefined;
  #tenants = 0;

  /** `probe`: a short question to the database. */
  constructor(probe: () => Promise<unknown>) {
    this.#probe = probe;
  }

  /** Requests that each tenant may have in work at once; less than one: with a rest after each. */
  get share(): number {
    return this.#share;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** The end of the turn, when it is the tenant's. Throws `TooBusy` where too many wait already, or the wait is over. */
  enter(tenant: TenantId, caller: string): EndTenantSlot | Promise<EndTenantSlot> {
    return this.#enter(this.#meet(tenant, true), tenant, caller);
  }

  /** The same for those who are nobody yet, by what they have in common. They are nobody's rivals: a tenant that is alone with them has no limit. */
  enterAnonymous(group: string, caller: string): EndTenantSlot | Promise<EndTenantSlot> {
    // Anybody can name any group.
    const named = this.#present.size < MAX_GROUPS ? `stranger ${group}` : 'stranger';
    return this.#enter(this.#meet(named, false), named, caller);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #enter(presence: Presence, group: string, caller: string): EndTenantSlot | Promise<EndTenantSlot> {
    if (this.#mayBegin(presence)) return this.#begin(presence);
    // Strangers from one address are one group, such as an office that enrolls.
    const ofCaller = presence.isTenant ? this.#waiting.sizeOf(group, caller) : 0;
    const isFull =
      this.#waiting.size >= WAITING ||
      this.#waiting.sizeOf(group) >= WAITING_PER_GROUP ||
      ofCaller >= WAITING_PER_CALLER;
    if (isFull) throw this.#tooBusy();
    return new Promise((resolve, reject) => {
      const path = [group, caller] as const;
      const giveUp = () => {
        if (this.#waiting.remove(path, waiter)) reject(this.#tooBusy());
      };
      const waiter: Waiter = { path, begin: () => resolve(this.#begin(presence)), timer: setTimeout(giveUp, WAIT_MS) };
      this.#waiting.push(path, waiter);
    });
  }

  #meet(group: string, isTenant: boolean): Presence {
    const now = performance.now();
    const known = this.#present.get(group);
    if (known) {
      known.seenAt = now;
      return known;
    }
    const presence: Presence = { isTenant, seenAt: now, working: 0, resting: 0, worked: 0 };
    this.#present.set(group, presence);
    if (isTenant) this.#tenants += 1;
    this.#timer ??= setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
    return presence;
  }

  get #areRivals(): boolean {
    return this.#tenants > 1;
  }

  #mayBegin({ working, resting }: Presence): boolean {
    return !this.#areRivals || working + resting < Math.max(1, Math.floor(this.#share));
  }

  #begin(presence: Presence): EndTenantSlot {
    const begun = performance.now();
    presence.working += 1;
    let ended = false;
    const end = () => {
      if (ended) return;
      ended = true;
      clearTimeout(timer);
      const took = performance.now() - begun;
      presence.working -= 1;
      presence.worked += took;
      this.#rest(presence, took);
      if (this.#waiting.size > 0) this.#serve();
    };
    const timer = setTimeout(end, LONGEST_TURN_MS).unref();
    return end;
  }

  #rest(presence: Presence, took: number): void {
    if (this.#share >= 1 || !this.#areRivals) return;
    presence.resting += 1;
    const over = () => {
      presence.resting -= 1;
      if (this.#waiting.size > 0) this.#serve();
    };
    setTimeout(over, Math.min(LONGEST_REST_MS, took * (1 / this.#share - 1))).unref();
  }

  #serve(): void {
    for (;;) {
      const next = this.#waiting.shift((group) => this.#mayBegin(this.#present.get(group)!));
      if (!next) return;
      clearTimeout(next.timer);
      next.begin();
    }
  }

  #look(): void {
    const busiest = this.#busiest();
    this.#forgetAbsent();
    // Everybody waits for the database then, and nobody for the others.
    if (!this.#areRivals || this.#standsStill) [this.#share, this.#tooMuch] = [MOST, MOST];
    else {
      void this.#measure();
      this.#adjust(busiest);
    }
    this.#serve();
    if (this.#present.size === 0) this.close();
  }

  #adjust(busiest: number): void {
    const wasFelt = this.#wasFelt;
    this.#wasFelt = this.#loadMonitor.isOverloaded;
    if (!this.#wasFelt) {
      this.#share = Math.min(MOST, this.#share * (this.#share < this.#tooMuch / 2 ? GROW : GROW_CAREFULLY));
      return;
    }
    // What is not their doing does not pass when they wait.
    if (busiest < Math.min(1, this.#share) / 2) return;
    if (!wasFelt) this.#tooMuch = this.#share;
    this.#share = Math.max(LEAST, this.#share * SHRINK);
  }

  /** Requests that the busiest tenant had in work, on average since the latest look. */
  #busiest(): number {
    let most = 0;
    for (const presence of this.#present.values()) {
      most = Math.max(most, presence.worked / LOOK_EVERY_MS, presence.working);
      presence.worked = 0;
    }
    return most;
  }

  #forgetAbsent(): void {
    const now = performance.now();
    for (const [group, { isTenant, seenAt, working, resting }] of this.#present) {
      if (working + resting > 0 || this.#waiting.sizeOf(group) > 0 || now - seenAt < ABSENT_AFTER_MS) continue;
      this.#present.delete(group);
      if (isTenant) this.#tenants -= 1;
    }
  }

  get #standsStill(): boolean {
    return this.#probedAt !== undefined && performance.now() - this.#probedAt > STANDSTILL_MS;
  }

  #tooBusy(): TooBusy {
    return new TooBusy('requests of a tenant', { isOwnShare: !this.#standsStill, retryAfterSeconds: 5 });
  }

  /** One at a time. What the database answers after a standstill says nothing of tenants. */
  async #measure(): Promise<void> {
    if (this.#probedAt !== undefined) return;
    const begun = performance.now();
    this.#probedAt = begun;
    try {
      await new Promise((resolve) => setImmediate(resolve));
      await this.#probe();
    } catch {
      // That the database is away is said elsewhere, and is no tenant's doing.
      return;
    } finally {
      this.#probedAt = undefined;
    }
    const took = performance.now() - begun;
    if (took <= STANDSTILL_MS) this.#loadMonitor.observe(took);
  }
}
