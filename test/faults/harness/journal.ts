export const kinds = ['employee', 'whitelist entry', 'policy', 'observation', 'alert', 'resolution'] as const;
export type Kind = (typeof kinds)[number];

/**
 * The responses to a client's writes, by keys that the client chose: an e-mail address, the name of a policy, a domain.
 * A write that was not acknowledged may have happened or not, but not twice.
 */
export class Journal {
  readonly #acknowledged = new Map<Kind, Set<string>>(kinds.map((kind) => [kind, new Set()]));
  readonly #unknown = new Map<Kind, Set<string>>(kinds.map((kind) => [kind, new Set()]));
  /** Valid writes that were rejected as invalid. */
  readonly wronglyRefused: string[] = [];
  /** Responses that report an environment failure as an internal error. */
  readonly internalErrors: string[] = [];

  acknowledge(kind: Kind, ...keys: string[]): void {
    for (const key of keys) this.#acknowledged.get(kind)!.add(key);
  }

  doubt(kind: Kind, ...keys: string[]): void {
    for (const key of keys) this.#unknown.get(kind)!.add(key);
  }

  acknowledged(kind: Kind): readonly string[] {
    return [...this.#acknowledged.get(kind)!];
  }

  get size(): number {
    return [...this.#acknowledged.values()].reduce((sum, { size }) => sum + size, 0);
  }

  get doubts(): number {
    return [...this.#unknown.values()].reduce((sum, { size }) => sum + size, 0);
  }
}
