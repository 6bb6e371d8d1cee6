import type { TenantId } from '../kernel/ids.ts';

interface Entry {
  readonly tenantId: TenantId;
  readonly value: unknown;
  readonly weight: number;
}

/** Values of tenants by name, up to a weight: what was put first goes first. */
export class BoundedMemory {
  readonly #most: number;
  readonly #entries = new Map<string, Entry>();
  readonly #byTenant = new Map<TenantId, Set<string>>();
  #weight = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get(name: string): unknown {
    return this.#entries.get(name)?.value;
  }

  /** One that is heavier than all that may be kept is not kept. */
  put(tenantId: TenantId, name: string, value: unknown, weight: number): void {
    this.forget(name);
    if (weight > this.#most) return;
    while (this.#weight + weight > this.#most) this.forget(this.#entries.keys().next().value!);
    this.#entries.set(name, { tenantId, value, weight });
    this.#weight += weight;
    const names = this.#byTenant.get(tenantId);
    if (names) names.add(name);
    else this.#byTenant.set(tenantId, new Set([name]));
  }

  forget(name: string): void {
    const entry = this.#entries.get(name);
    if (!entry) return;
    this.#entries.delete(name);
    this.#weight -= entry.weight;
    const names = this.#byTenant.get(entry.tenantId)!;
    names.delete(name);
    if (names.size === 0) this.#byTenant.delete(entry.tenantId);
  }

  forgetAll(): void {
    this.#entries.clear();
    this.#byTenant.clear();
    this.#weight = 0;
  }

  forgetTenant(tenantId: TenantId): void {
    for (const name of this.#byTenant.get(tenantId) ?? []) this.forget(name);
  }
}
