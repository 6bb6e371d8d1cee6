/**
 * Failures are values: a decider, a command handler or a query returns one instead of throwing. One table in
 * `src/app/http/errors.ts` maps a kind to an HTTP status; no other code does.
 */
export type FailureKind =
  | 'invalid' // input that breaks a rule; names the field
  | 'unauthenticated'
  | 'forbidden'
  | 'notFound'
  | 'conflict' // duplicate, or a state that does not allow it
  | 'stale' // changed since the caller read it (`If-Match`)
  | 'tooLarge'
  | 'limited' // a budget is used up; carries seconds until it resets
  | 'unavailable';

export interface Failure {
  readonly failed: true;
  readonly kind: FailureKind;
  /** A short, fixed, lower-case English text that is safe to show to a client. */
  readonly message: string;
  readonly retryAfterSeconds?: number;
}

const failure = (kind: FailureKind, message: string): Failure => ({ failed: true, kind, message });

/** `validation failed: <field>: <reason>`: the one format for bad input, from a schema or from a rule. */
export const invalid = (field: string, reason: string): Failure =>
  failure('invalid', `validation failed: ${field}: ${reason}`);
/**
 * A stored secret must only be sent to the address it was entered for. A change of the address needs the secret again,
 * or its removal.
 */
export const secretNeededAgain = (secretField: string, addressField: string): Failure =>
  invalid(secretField, `is required where ${addressField} changes; null removes it`);
export const unauthenticated = (message = 'authentication required'): Failure => failure('unauthenticated', message);
export const forbidden = (message = 'insufficient permissions'): Failure => failure('forbidden', message);
/** The caller must authenticate again first. The client gets a re-authentication token and repeats the request. */
export const reauthenticationRequired = (): Failure => forbidden('re-authentication required');
export const notFound = (message = 'not found'): Failure => failure('notFound', message);
export const conflict = (message = 'already exists'): Failure => failure('conflict', message);
export const stale = (): Failure => failure('stale', 'changed in the meantime: read it again, then repeat the change');
export const tooLarge = (message = 'payload too large'): Failure => failure('tooLarge', message);
export const unavailable = (message = 'service unavailable'): Failure => failure('unavailable', message);
/** A failover or a restart takes seconds. */
export const RETRY_AFTER_SECONDS = 2;
/** The same request may succeed soon. */
export const temporarilyUnavailable = (message?: string): Failure => ({
  ...unavailable(message),
  retryAfterSeconds: RETRY_AFTER_SECONDS,
});
export const limited = (retryAfterSeconds: number): Failure => ({
  ...failure('limited', 'rate limit exceeded'),
  retryAfterSeconds,
});

export const isFailure = (value: unknown): value is Failure =>
  typeof value === 'object' && value !== null && (value as { failed?: unknown }).failed === true;

/** An Error that carries a failure through code without a return channel (hooks, streams). */
export class FailureError extends Error {
  readonly failure: Failure;
  constructor(carried: Failure) {
    super(carried.message);
    this.name = 'FailureError';
    this.failure = carried;
  }
}

/** Returns the value, or throws the failure as a `FailureError`. */
export function orThrow<T>(value: T | Failure): T {
  if (isFailure(value)) throw new FailureError(value);
  return value;
}
