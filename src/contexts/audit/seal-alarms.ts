import { NotAFile, whyUnread } from '../../platform/file-content.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';

/** Sockets have others: whoever failed in one of these failed at a file. `stat` is that of `Unseen`. */
const FILE_CALLS: ReadonlySet<unknown> = new Set(['stat', 'mkdir', 'open', 'fsync', 'rename']);

const isOfAFile = (error: unknown): boolean =>
  error instanceof NotAFile || FILE_CALLS.has((error as NodeJS.ErrnoException).syscall);

/** Why a chain is no longer sealed, by owner, or none is. Until an operator fixes the cause, new entries are not sealed. */
export class SealAlarms {
  readonly #reasons = new Map<TenantId, string>();

  /** Why the latest attempt ended early: no chain can be relied on to be sealed. */
  #failure: string | undefined;

  #allSealedAt: number | undefined;

  /** Epoch milliseconds of the last complete look at all heads. */
  get allSealedAt(): number | undefined {
    return this.#allSealedAt;
  }

  /** Chains with an alarm. */
  get count(): number {
    return this.#reasons.size;
  }

  /** After a complete look at all heads. */
  looked(at: number): void {
    this.#failure = undefined;
    if (this.#reasons.size === 0) this.#allSealedAt = at;
  }

  /** `/health` is public: paths and what a driver says are only in the log of the process. */
  failed(error: unknown): void {
    this.#failure = isOfAFile(error)
      ? `audit-heads.jsonl cannot be used (${whyUnread(error)}); \`castellan doctor\` says what to do`
      : 'the latest attempt failed; the log of the process that seals says why';
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
    const causes = [this.#failure, this.#invalidChains()].filter((cause) => cause !== undefined);
    return causes.length === 0 ? undefined : `audit heads are not sealed: ${causes.join('; ')}`;
  }

  #invalidChains(): string | undefined {
    const counts = new Map<string, number>();
    for (const reason of this.#reasons.values()) counts.set(reason, (counts.get(reason) ?? 0) + 1);
    if (counts.size === 0) return undefined;
    const parts = [...counts].map(([reason, chains]) => `${reason} (${chains} ${chains === 1 ? 'chain' : 'chains'})`);
    return `${parts.join('; ')}; run \`audit verify\`, and \`restore status\` after a restore`;
  }
}
