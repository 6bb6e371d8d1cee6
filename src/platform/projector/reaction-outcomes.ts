import type { Checkpoint, Checkpoints } from './checkpoints.ts';

/** After this many failures in a row the failure is recorded and the lease may be released. */
const FAILURES_TO_REPORT = 3;
/**
 * The interval between releases of the lease doubles up to this many failures: 3 failures in a row, then 6, then 12,
 * …
 */
const MAX_OUTAGES_TO_GIVE_WAY = 192;

/** Every turn in this process fails. */
export class NoSuccess extends Error {
  override readonly name = 'NoSuccess';
}

/**
 * What became of a reaction's turns in this process: whether a failure is to be recorded, and whether another process
 * should try.
 */
export class ReactionOutcomes {
  readonly #checkpoints: Checkpoints;
  #failures = 0;
  #isBlamed = false;
  /** Failed turns of tenants since the last successful one, and the number at which this process gives way. */
  #outages = 0;
  #outagesToGiveWay = FAILURES_TO_REPORT;

  constructor(checkpoints: Checkpoints) {
    this.#checkpoints = checkpoints;
  }

  /** Failures of this process in a row. */
  get failures(): number {
    return this.#failures;
  }

  /** The previous holder of the lease may have recorded why it could not go on. */
  begin({ failure }: Checkpoint): void {
    this.#isBlamed = Boolean(failure);
  }

  /** Returns true if the failure has lasted, so that it should be recorded. */
  failed(): boolean {
    this.#failures += 1;
    return this.#failures % FAILURES_TO_REPORT === 0;
  }

  /** History was folded. Says nothing about the effects of the reaction. */
  folded(): void {
    this.#failures = 0;
  }

  /** Some work succeeded, so neither this process nor a dependency is at fault. */
  async succeeded(checkpoint: Checkpoint): Promise<void> {
    this.#failures = 0;
    this.#outages = 0;
    this.#outagesToGiveWay = FAILURES_TO_REPORT;
    if (!this.#isBlamed) return;
    this.#isBlamed = false;
    await this.#checkpoints.blame(checkpoint, null);
  }

  /** A tenant's turn failed. Returns true if all turns fail here, so that another process should try: less often each time. */
  turnFailed(): boolean {
    this.#outages += 1;
    if (this.#outages % this.#outagesToGiveWay !== 0) return false;
    this.#outagesToGiveWay = Math.min(2 * this.#outagesToGiveWay, MAX_OUTAGES_TO_GIVE_WAY);
    return true;
  }

  /** Records why the reaction cannot go on. `/health` names it. */
  async blame(checkpoint: Checkpoint, error: Error): Promise<void> {
    this.#isBlamed = true;
    await this.#checkpoints.blame(checkpoint, error.message).catch(() => undefined);
  }
}
