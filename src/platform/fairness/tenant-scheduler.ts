import type { TenantId } from '../kernel/ids.ts';
import { TooBusy } from './fair-limiter.ts';
import { FairQueue } from './fair-queue.ts';
import { DatabaseProbe } from './database-probe.ts';
import { TenantShare } from './tenant-share.ts';

const TICK_MS = 100;
/** A tenant without requests for this long no longer counts as competing. */
const ABSENT_AFTER_MS = 10_000;
const MAX_PAUSE_MS = 500;
/** Waiting requests are limited because their bodies are in memory. */
const MAX_WAITING = 512;
const MAX_WAITING_PER_GROUP = 256;
const WAIT_MS = 10_000;
/** Slower requests wait for something else (a slow upload, a long export) and stop counting. */
const MAX_SLOT_MS = 2_000;
/** With this many groups, further anonymous callers share one group. */
const MAX_GROUPS = 5_000;

/** How many requests of one caller wait, and for how long. */
export interface CallerQueue {
  readonly maxWaiting: number;
  readonly waitMs: number;
}
const USUAL_QUEUE: CallerQueue = { maxWaiting: 64, waitMs: WAIT_MS };
/**
 * An identity provider that sends 200 requests at once runs unattended, and nobody repeats what was refused at night:
 * they wait rather than being refused. The rest of the tenant's queue is for its other callers.
 */
export const PROVISIONING_QUEUE: CallerQueue = { maxWaiting: 208, waitMs: 2 * WAIT_MS };

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
  /** Milliseconds of work since the last adjustment. */
  worked: number;
}

/** Ends the slot. Idempotent. */
export type EndTenantSlot = () => void;

/**
 * Keeps short requests fast for all tenants. While they have to wait (`DatabaseProbe`) and several tenants are active,
 * each tenant may run fewer and fewer concurrent requests, down to one at a time with a pause after it. Further
 * requests wait; the callers of a tenant take turns. A tenant with few requests is not affected, and a tenant that is
 * the only active one has no limit.
 */
export class TenantScheduler {
  readonly #present = new Map<string, Presence>();
  readonly #waiting = new FairQueue<Waiter>();
  readonly #database: DatabaseProbe;
  readonly #share: TenantShare;
  #timer: NodeJS.Timeout | undefined;
  #tenants = 0;

  /** `probe` sends a short query to the database. */
  constructor(probe: () => Promise<unknown>) {
    this.#database = new DatabaseProbe(probe, WAIT_MS);
    this.#share = new TenantShare(this.#database);
  }

  /** Concurrent requests per tenant. Below one: one at a time, with a pause after each. */
  get share(): number {
    return this.#share.size;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Returns the function that ends the slot, once the tenant has its turn. Throws or rejects with `TooBusy` if too many
   * requests are waiting or the wait times out.
   */
  enter(tenant: TenantId, caller: string, queue = USUAL_QUEUE): EndTenantSlot | Promise<EndTenantSlot> {
    return this.#enter(this.#presenceOf(tenant, true), tenant, caller, queue);
  }

  /**
   * Like `enter`, for unauthenticated callers, grouped by something they share. They do not count as tenants: a tenant
   * that is alone with them has no limit.
   */
  enterAnonymous(group: string, caller: string): EndTenantSlot | Promise<EndTenantSlot> {
    // An anonymous caller can choose its group, so the number of groups is bounded.
    const named = this.#present.size < MAX_GROUPS ? `anonymous ${group}` : 'anonymous';
    return this.#enter(this.#presenceOf(named, false), named, caller, USUAL_QUEUE);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #enter(
    presence: Presence,
    group: string,
    caller: string,
    { maxWaiting, waitMs }: CallerQueue,
  ): EndTenantSlot | Promise<EndTenantSlot> {
    if (this.#mayBegin(presence)) return this.#begin(presence);
    // Anonymous callers from one address are one group, such as an office that enrolls. Only the group's limit applies.
    const ofCaller = presence.isTenant ? this.#waiting.sizeOf(group, caller) : 0;
    const isFull =
      this.#waiting.size >= MAX_WAITING ||
      this.#waiting.sizeOf(group) >= MAX_WAITING_PER_GROUP ||
      ofCaller >= maxWaiting;
    if (isFull) throw this.#tooBusy();
    return new Promise((resolve, reject) => {
      const path = [group, caller] as const;
      const giveUp = () => {
        if (this.#waiting.remove(path, waiter)) reject(this.#tooBusy());
      };
      const waiter: Waiter = { path, begin: () => resolve(this.#begin(presence)), timer: setTimeout(giveUp, waitMs) };
      this.#waiting.push(path, waiter);
    });
  }

  #presenceOf(group: string, isTenant: boolean): Presence {
    const now = performance.now();
    const known = this.#present.get(group);
    if (known) {
      known.seenAt = now;
      return known;
    }
    const presence: Presence = { isTenant, seenAt: now, working: 0, resting: 0, worked: 0 };
    this.#present.set(group, presence);
    if (isTenant) this.#tenants += 1;
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS).unref();
    return presence;
  }

  get #areCompeting(): boolean {
    return this.#tenants > 1;
  }

  #mayBegin({ working, resting }: Presence): boolean {
    return !this.#areCompeting || working + resting < Math.max(1, Math.floor(this.share));
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
    const timer = setTimeout(end, MAX_SLOT_MS).unref();
    return end;
  }

  #rest(presence: Presence, took: number): void {
    if (this.share >= 1 || !this.#areCompeting) return;
    presence.resting += 1;
    const over = () => {
      presence.resting -= 1;
      if (this.#waiting.size > 0) this.#serve();
    };
    setTimeout(over, Math.min(MAX_PAUSE_MS, took * (1 / this.share - 1))).unref();
  }

  #serve(): void {
    for (;;) {
      const next = this.#waiting.shift((group) => this.#mayBegin(this.#present.get(group)!));
      if (!next) return;
      clearTimeout(next.timer);
      next.begin();
    }
  }

  #tick(): void {
    const busiest = this.#busiest();
    this.#removeAbsent();
    // While the database hangs, no tenant is the cause.
    if (!this.#areCompeting || this.#database.isHanging) this.#share.reset();
    else this.#share.adjust(busiest);
    if (this.#areCompeting) void this.#database.probeOnce();
    this.#serve();
    if (this.#present.size === 0) this.close();
  }

  /** The busiest tenant's average number of concurrent requests since the last adjustment. */
  #busiest(): number {
    let most = 0;
    for (const presence of this.#present.values()) {
      most = Math.max(most, presence.worked / TICK_MS, presence.working);
      presence.worked = 0;
    }
    return most;
  }

  #removeAbsent(): void {
    const now = performance.now();
    for (const [group, { isTenant, seenAt, working, resting }] of this.#present) {
      if (working + resting > 0 || this.#waiting.sizeOf(group) > 0 || now - seenAt < ABSENT_AFTER_MS) continue;
      this.#present.delete(group);
      if (isTenant) this.#tenants -= 1;
    }
  }

  #tooBusy(): TooBusy {
    const isOwnShare = !this.#database.wasSilent && !this.#database.isSlowThroughout;
    return new TooBusy('requests of a tenant', { isOwnShare, retryAfterSeconds: 5 });
  }
}
