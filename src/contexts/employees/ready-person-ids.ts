import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { FailureError } from '../../platform/kernel/failure.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import type { PersonKeys } from '../../platform/vault/vault.ts';

/** Made together, in one transaction. This many are on disk without a person when a process ends. */
const AT_ONCE = 32;
const REFILL_BELOW = 16;
/** A tenant whose people come faster than this is in a run. */
const RUN_MS = 250;
const MAX_TENANTS = 200;

interface Ready {
  readonly ids: string[];
  takenAt: number;
  isFilling: boolean;
}

/** Nothing was appended. After other errors an event may have the id. */
const isRefusal = (error: unknown): boolean =>
  error instanceof FailureError && ['conflict', 'forbidden', 'invalid'].includes(error.failure.kind);

/**
 * Ids of people to come, whose keys are on disk already: a key must be, before an event is sealed under it, and its commit
 * would otherwise be waited for in each creation. Only while a tenant's people come in quick succession: nobody gets ids
 * ready for a person a day.
 */
export class ReadyPersonIds {
  readonly #personKeys: Pick<PersonKeys, 'forSealing'>;
  readonly #ready = new LRUCache<TenantId, Ready>({ max: MAX_TENANTS });

  constructor(personKeys: Pick<PersonKeys, 'forSealing'>) {
    this.#personKeys = personKeys;
  }

  /** Makes a person with an id that is ready, or else with `newId`. An id that nobody got is ready for the next one. */
  async withId<Made extends { readonly userId: string }>(
    tenantId: TenantId,
    newId: () => string,
    make: (id: string) => Promise<Made>,
  ): Promise<Made> {
    const id = this.#take(tenantId);
    if (id === undefined) return make(newId());
    try {
      const made = await make(id);
      if (made.userId !== id) this.#giveBack(tenantId, id);
      return made;
    } catch (error) {
      if (isRefusal(error)) this.#giveBack(tenantId, id);
      throw error;
    }
  }

  #take(tenantId: TenantId): string | undefined {
    const ready = this.#of(tenantId);
    const now = performance.now();
    const isRun = now - ready.takenAt < RUN_MS;
    ready.takenAt = now;
    const id = ready.ids.pop();
    if (isRun && ready.ids.length < REFILL_BELOW && !ready.isFilling) void this.#fill(tenantId, ready);
    return id;
  }

  #giveBack(tenantId: TenantId, id: string): void {
    this.#of(tenantId).ids.push(id);
  }

  #of(tenantId: TenantId): Ready {
    const known = this.#ready.get(tenantId);
    if (known) return known;
    const ready: Ready = { ids: [], takenAt: Number.NEGATIVE_INFINITY, isFilling: false };
    this.#ready.set(tenantId, ready);
    return ready;
  }

  async #fill(tenantId: TenantId, ready: Ready): Promise<void> {
    ready.isFilling = true;
    const ids = Array.from({ length: AT_ONCE }, () => randomUUID());
    try {
      await Promise.all(ids.map((id) => this.#personKeys.forSealing(tenantId, id)));
      ready.ids.push(...ids);
    } catch {
      // Whoever needs a key next makes it, or is told why that fails.
    } finally {
      ready.isFilling = false;
    }
  }
}
