import type { TenantId } from '../../platform/kernel/ids.ts';

/** Why chains are not sealed any more, by owner: until somebody looks, nothing new is vouched for. */
export class SealAlarms {
  readonly #reasons = new Map<TenantId, string>();

  raise(tenantId: TenantId, reason: string): void {
    this.#reasons.set(tenantId, reason);
  }

  clear(tenantId: TenantId): void {
    this.#reasons.delete(tenantId);
  }

  /** In words for `/health`, which is open to all: names nobody. Undefined when every chain is sealed. */
  impairment(): string | undefined {
    const counts = new Map<string, number>();
    for (const reason of this.#reasons.values()) counts.set(reason, (counts.get(reason) ?? 0) + 1);
    if (counts.size === 0) return undefined;
    const parts = [...counts].map(([reason, chains]) => `${reason} (${chains} ${chains === 1 ? 'chain' : 'chains'})`);
    return `audit heads are not sealed: ${parts.join('; ')}; run \`audit verify\`, and \`restore status\` after a restore`;
  }
}
