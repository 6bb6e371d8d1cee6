import { LRUCache } from 'lru-cache';
import type { TenantId } from '../kernel/ids.ts';

interface Entry {
  readonly tenantId: TenantId;
  readonly value: unknown;
}

/** Values of tenants by name, up to a total weight; the least recently used goes first. */
export class BoundedMemory {
  readonly #entries: LRUCache<string, Entry>;
  readonly #byTenant = new Map<TenantId, Set<string>>();

  constructor(most: number) {
    this.#entries = new LRUCache({ maxSize: most, dispose: (entry, name) => this.#unlist(entry, name) });
  }

  get(name: string): unknown {
    return this.#entries.get(name)?.value;
  }

  /** A value that is heavier than the limit is not kept. */
  put(tenantId: TenantId, name: string, value: unknown, weight: number): void {
    this.#entries.set(name, { tenantId, value }, { size: Math.max(1, weight) });
    if (!this.#entries.has(name)) return;
    const names = this.#byTenant.get(tenantId);
    if (names) names.add(name);
    else this.#byTenant.set(tenantId, new Set([name]));
  }

  forget(name: string): void {
    this.#entries.delete(name);
  }

  forgetAll(): void {
    this.#entries.clear();
  }

  forgetTenant(tenantId: TenantId): void {
    for (const name of this.#byTenant.get(tenantId) ?? []) this.forget(name);
  }

  /** Called for every entry that goes, whatever the reason. */
  #unlist({ tenantId }: Entry, name: string): void {
    const names = this.#byTenant.get(tenantId);
    names?.delete(name);
    if (names?.size === 0) this.#byTenant.delete(tenantId);
  }
}
