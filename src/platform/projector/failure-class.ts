import { isRefusal } from '../database/refusal.ts';
import { EventContractError } from '../eventstore/event-contract-error.ts';
import { AppendRefused, EventStoreUnavailable } from '../eventstore/port.ts';
import type { Failure } from '../kernel/failure.ts';
import { LeaseLost } from './checkpoints.ts';
import { Unencodable } from './row-encoding.ts';

/**
 * What an error says about the event at which it arose.
 * - `poison`: the event itself cannot be worked, however often it is tried.
 * - `outage`: something that the event needs is unavailable; it is retried until it is back.
 * - `unclear`: either. After several tries in a row it counts as poison.
 */
export type FailureClass = 'poison' | 'outage' | 'unclear';

/** A command refused the effect for a reason that a retry does not change. */
export class EffectRefused extends Error {
  readonly failure: Failure;
  constructor(command: string, failure: Failure) {
    super(`${command} was refused: ${failure.message}`);
    this.name = 'EffectRefused';
    this.failure = failure;
  }
}

/** A command cannot run now. */
export class EffectUnavailable extends Error {
  constructor(command: string, failure: Failure) {
    super(`${command} could not run: ${failure.message}`);
    this.name = 'EffectUnavailable';
  }
}

const POISONS = [EffectRefused, EventContractError, AppendRefused, Unencodable];
const OUTAGES = [EffectUnavailable, EventStoreUnavailable, LeaseLost];
/** Errors of components that reactions reach through commands. */
const OUTAGE_NAMES: ReadonlySet<string> = new Set([
  'AbortError',
  'PositionGapError',
  'WrongMasterKey',
  'ObjectStoreUnavailable',
  'TooManyWaiting',
  'MaxRetriesPerRequestError',
]);
/** Errors of `pg`, its pool and `ioredis` that carry no code. */
const OUTAGE_WORDS =
  /^(connection (terminated|ended|is closed)|timeout exceeded when trying to connect|client (was closed|has encountered a connection error)|cannot use a pool after|query read timeout|stream isn't writeable|the transaction had failed)/i;

/** SQLSTATEs have five characters; operating system error codes begin with E. */
const isOutageCode = (code: unknown): boolean =>
  typeof code === 'string' && (/^[0-9A-Z]{5}$/.test(code) || /^E(?!RR_)[A-Z]/.test(code));

export function failureClassOf(error: unknown): FailureClass {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth += 1) {
    const { name, message, code } = cause as Error & { code?: unknown };
    if (POISONS.some((kind) => cause instanceof kind) || isRefusal(cause)) return 'poison';
    if (
      OUTAGES.some((kind) => cause instanceof kind) ||
      OUTAGE_NAMES.has(name) ||
      isOutageCode(code) ||
      OUTAGE_WORDS.test(message)
    )
      return 'outage';
  }
  return 'unclear';
}
