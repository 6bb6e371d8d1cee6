import { FreshValues } from '../../../platform/execution/fresh-values.ts';
import { FailureError } from '../../../platform/kernel/failure.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';

interface Begun {
  readonly tenantId: TenantId;
  readonly subjectId: string;
  readonly digest: Buffer;
  readonly attempt: string;
  readonly seed: Buffer;
  /** Another attempt came before, and nobody knows how far. */
  readonly isRetry: boolean;
}

/** One attempt at a request with an idempotency key. What it creates has the same ids and secrets in every attempt. */
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
   * The id of a command that the request runs. Commands of one name are told apart by `as`, or by their order: a route that runs
   * them in no fixed order must name them.
   */
  commandId(name: string, as?: string): string {
    if (as !== undefined) return this.fresh.id(`command ${name} as ${as}`);
    const runs = (this.#runs.get(name) ?? 0) + 1;
    this.#runs.set(name, runs);
    return this.fresh.id(`command ${name} ${runs}`);
  }

  /** Takes back `commandId` of an unnamed command that was not run after all. */
  notRun(name: string): void {
    this.#runs.set(name, (this.#runs.get(name) ?? 1) - 1);
  }

  get mayHaveAppended(): boolean {
    return this.#mayHaveAppended;
  }

  hasAppended(): void {
    this.#mayHaveAppended = true;
  }

  /** After an unexpected error, or an append whose outcome is unknown, the events may be there. */
  hasFailed(error: unknown): void {
    if (!(error instanceof FailureError) || error.failure.kind === 'unavailable') this.#mayHaveAppended = true;
  }
}
