import { FreshValues } from '../../../platform/execution/fresh-values.ts';
import { FailureError } from '../../../platform/kernel/failure.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';

interface Begun {
  readonly tenantId: TenantId;
  readonly subjectId: string;
  readonly digest: Buffer;
  readonly attempt: string;
  readonly seed: Buffer;
  /** True if there was an earlier attempt. Its progress is unknown. */
  readonly isRetry: boolean;
}

/** One attempt at a request with an idempotency key. All attempts create the same ids and secrets. */
export class KeyedRequest {
  readonly tenantId: TenantId;
  readonly subjectId: string;
  readonly digest: Buffer;
  readonly attempt: string;
  readonly fresh: FreshValues;
  readonly #runs = new Map<string, number>();
  #mayHaveAppended: boolean;

  constructor({ tenantId, subjectId, digest, attempt, seed, isRetry }: Begun) {
    this.tenantId = tenantId;
    this.subjectId = subjectId;
    this.digest = digest;
    this.attempt = attempt;
    this.fresh = new FreshValues(seed);
    this.#mayHaveAppended = isRetry;
  }

  /**
   * The id of a command that the request runs. `as`, or else their order, distinguishes commands of one name. A route that runs
   * them in no fixed order must set `as`.
   */
  commandId(name: string, as?: string): string {
    if (as !== undefined) return this.fresh.id(`command ${name} as ${as}`);
    const runs = (this.#runs.get(name) ?? 0) + 1;
    this.#runs.set(name, runs);
    return this.fresh.id(`command ${name} ${runs}`);
  }

  /** Frees the `commandId` of an unnamed command that was not run after all. */
  notRun(name: string): void {
    this.#runs.set(name, (this.#runs.get(name) ?? 1) - 1);
  }

  get mayHaveAppended(): boolean {
    return this.#mayHaveAppended;
  }

  hasAppended(): void {
    this.#mayHaveAppended = true;
  }

  /** After an unexpected error, or an append with unknown outcome, events may have been appended. */
  hasFailed(error: unknown): void {
    if (!(error instanceof FailureError) || error.failure.kind === 'unavailable') this.#mayHaveAppended = true;
  }
}
