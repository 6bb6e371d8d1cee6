import type { TenantId } from '../../platform/kernel/ids.ts';

/** Why a chain is no longer sealed, by owner. Until an operator fixes the cause, new entries are not sealed. */
export class SealAlarms {
  readonly #reasons = new Map<TenantId, string>();

  #allSealedAt: number | undefined;

  /** Epoch milliseconds of the last complete look at all heads. */
  get allSealedAt(): number | undefined {
    return this.#allSealedAt;
  }

  /** Chains with an alarm. */
  get count(): number {
    return this.#reasons.size;
  }

  looked(at: number): void {
    if (this.#reasons.size === 0) this.#allSealedAt = at;
  }

  raise(tenantId: TenantId, reason: string): void {
    this.#reasons.set(tenantId, reason);
  }

  clear(tenantId: TenantId): void {
    this.#reasons.delete(tenantId);
  }

  /**
   * The text for `/health`. That endpoint is public, so the text names no tenant. Undefined if every chain is sealed.
   */
  impairment(): string | undefined {
    const counts = new Map<string, number>();
    for (const reason of this.#reasons.values()) counts.set(reason, (counts.get(reason) ?? 0) + 1);
    if (counts.size === 0) return undefined;
    const parts = [...counts].map(([reason, chains]) => `${reason} (${chains} ${chains === 1 ? 'chain' : 'chains'})`);
    return `audit heads are not sealed: ${parts.join('; ')}; run \`audit verify\`, and \`restore status\` after a restore`;
  }
}
