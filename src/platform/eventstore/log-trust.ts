import { setTimeout as sleep } from 'node:timers/promises';
import { EventStoreUnavailable } from './port.ts';

/** The ways in which a log, its tables and the keys can mismatch. */
export const MISMATCHES = [
  'log_moved',
  'another_installation',
  'empty_log',
  'log_older',
  'tables_older',
  'empty_tables',
  'keys_missing',
] as const;
export type MismatchKind = (typeof MISMATCHES)[number];

/** The log may not be the one that this process has read and written so far. Nothing may be appended to it. */
export class LogNotTrusted extends EventStoreUnavailable {
  constructor(reason: string) {
    super(`the event log cannot be trusted: ${reason}`);
    this.name = 'LogNotTrusted';
  }
}

/** What stops every background task is reported once, by `LogWatch`; tasks that it stops add nothing. */
export const levelOfFailure = (error: unknown): 'debug' | 'error' =>
  error instanceof LogNotTrusted || (error instanceof Error && error.cause instanceof LogNotTrusted)
    ? 'debug'
    : 'error';

/** How long an append waits for a running check, in milliseconds. */
const CHECK_TIMEOUT_MS = 2_000;

type State =
  | { readonly kind: 'trusted' }
  /** Something happened after which the log may be another one; it has not been checked yet. */
  | { readonly kind: 'unchecked'; readonly reason: string }
  /** Log, tables and keys do not match. */
  | { readonly kind: 'contradicted'; readonly reason: string; readonly mismatch: MismatchKind };

/**
 * Whether the event log is still the one that this process knows. `LogWatch` checks it; appends, read models,
 * reactions, the head sealer and destructive jobs ask before they act. After a lost connection the log is unchecked and
 * all caches are invalid: `epoch` rises, and listeners drop their caches.
 */
export class LogTrust {
  #state: State;
  #epoch = 0;
  /** The epoch in which trust returned after the last mismatch: whatever was read before may be of another log. */
  #clearedIn = 0;
  readonly #listeners = new Set<() => void>();
  readonly #waiting = new Set<() => void>();

  constructor(initially: 'trusted' | 'unchecked' = 'trusted') {
    this.#state =
      initially === 'trusted' ? { kind: 'trusted' } : { kind: 'unchecked', reason: 'it has not been checked yet' };
  }

  get holds(): boolean {
    return this.#state.kind === 'trusted';
  }

  /** Why the log cannot be trusted, as text for operators; undefined while it can. */
  get doubt(): Exclude<State, { readonly kind: 'trusted' }> | undefined {
    return this.#state.kind === 'trusted' ? undefined : this.#state;
  }

  /** Rises each time cached state becomes invalid. */
  get epoch(): number {
    return this.#epoch;
  }

  /** Calls back when caches must be dropped. Returns the function that unsubscribes. */
  onDoubt(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Call when a connection was lost or the database server changed. A known mismatch stays until a check clears it. */
  suspect(reason: string): void {
    if (this.#state.kind !== 'contradicted') this.#state = { kind: 'unchecked', reason };
    this.#raise();
    // The next check begins now: whoever writes waits for it.
    this.#wake();
  }

  contradicted(mismatch: MismatchKind, reason: string): void {
    const isNew = this.#state.kind !== 'contradicted';
    this.#state = { kind: 'contradicted', reason, mismatch };
    if (isNew) this.#raise();
    this.#wake();
  }

  /**
   * Reports that a check, which began at this epoch, found no mismatch. Returns false if there was a reason for another
   * check since then.
   */
  confirmed(epoch: number): boolean {
    if (epoch !== this.#epoch) return false;
    if (this.#state.kind === 'contradicted') this.#clearedIn = epoch;
    this.#state = { kind: 'trusted' };
    this.#wake();
    return true;
  }

  /** Resolves once the log is trusted; waits up to 2 s for a running check. Otherwise throws `LogNotTrusted`. */
  async assured(): Promise<void> {
    const deadline = Date.now() + CHECK_TIMEOUT_MS;
    while (this.#state.kind === 'unchecked' && Date.now() < deadline) await this.changed(deadline - Date.now());
    if (this.#state.kind !== 'trusted') throw new LogNotTrusted(this.#state.reason);
  }

  /**
   * Resolves if what was read since this epoch was of the known log. Waits as `assured` does, and throws `LogNotTrusted`
   * as well if a mismatch was found in between, even one that has gone: the log was another one for a while.
   */
  async vouchFor(epoch: number): Promise<void> {
    if (this.holds && this.#epoch === epoch) return;
    await this.assured();
    if (epoch < this.#clearedIn) throw new LogNotTrusted('it did not match while it was read');
  }

  /**
   * As `vouchFor`, but throws as well if the log was in doubt meanwhile, for what can be asked again: no check may have seen
   * another log that was there for a moment.
   */
  async vouchForAll(epoch: number): Promise<void> {
    await this.vouchFor(epoch);
    if (this.#epoch !== epoch) throw new LogNotTrusted('it was in doubt while it was read');
  }

  /** Resolves when the state may have changed, or after some milliseconds. */
  async changed(milliseconds: number, signal?: AbortSignal): Promise<void> {
    const woken = new AbortController();
    const wake = () => woken.abort();
    this.#waiting.add(wake);
    const either = signal ? AbortSignal.any([woken.signal, signal]) : woken.signal;
    await sleep(milliseconds, undefined, { signal: either }).catch(() => undefined);
    this.#waiting.delete(wake);
  }

  #raise(): void {
    this.#epoch += 1;
    for (const listener of this.#listeners) listener();
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
  }
}
