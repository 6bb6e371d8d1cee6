import { errorCodes, type CodeOf, type FailureKind } from './error-codes.ts';

/**
 * Failures are values: a decider, a command handler or a query returns one instead of throwing. One table in
 * `src/app/http/errors.ts` maps a kind to an HTTP status; no other code does.
 */
export type { FailureKind } from './error-codes.ts';

/** A wrong field of the input: its path (`rules.0.action`), parameter or header, and what is wrong with it. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
}

export interface Failure {
  readonly failed: true;
  readonly kind: FailureKind;
  readonly code: CodeOf<FailureKind>;
  /** A short, fixed, lower-case English text that is safe to show to a client. */
  readonly message: string;
  /** Every wrong field, the field of a duplicate, or the ids of records that name the one to delete. */
  readonly fields?: readonly FieldError[];
  readonly retryAfterSeconds?: number;
}

const failure =
  <Kind extends FailureKind>(kind: Kind, usual: CodeOf<Kind>) =>
  (code: CodeOf<Kind> = usual, message: string = errorCodes[code].error): Failure => ({
    failed: true,
    kind,
    code: code as CodeOf<FailureKind>,
    message,
  });

/** `validation failed: <field>: <reason>`: the one format for bad input, from a schema or from a rule. */
export const invalid = (field: string, reason: string, code: CodeOf<'invalid'> = 'validation_failed'): Failure =>
  invalidFields([{ field, message: reason }], code);
/** Several wrong fields. The text names the first one. */
export const invalidFields = (
  fields: readonly [FieldError, ...FieldError[]],
  code: CodeOf<'invalid'> = 'validation_failed',
): Failure => {
  const [{ field, message }] = fields;
  return { failed: true, kind: 'invalid', code, message: `validation failed: ${field}: ${message}`, fields };
};
/** One refusal of bad input for several, if there are any. A code that says more than the usual one counts. */
export function refuseTogether(...refusals: readonly (Failure | undefined)[]): Failure | undefined {
  const [first, ...others] = refusals.flatMap((refused) => refused?.fields ?? []);
  const special = refusals.find((refused) => refused && refused.code !== 'validation_failed');
  return first && { ...invalidFields([first, ...others]), ...(special ? { code: special.code } : {}) };
}
/**
 * A stored secret must only be sent to the address it was entered for. A change of the address needs the secret again,
 * or its removal.
 */
export const secretNeededAgain = (secretField: string, addressField: string): Failure =>
  invalid(secretField, `is required where ${addressField} changes; null removes it`, 'secret_required_again');
/** Stored settings lack something, so no field of the request is at fault. Undefined if nothing is missing. */
export const notConfigured = (missing: Readonly<Record<string, boolean>>): Failure | undefined => {
  const names = Object.keys(missing).filter((name) => missing[name]);
  return names.length === 0
    ? undefined
    : failure('invalid', 'validation_failed')('channel_not_configured', `not configured: ${names.join(', ')}`);
};
export const unauthenticated = failure('unauthenticated', 'authentication_required');
export const forbidden = failure('forbidden', 'insufficient_permissions');
/** The caller must authenticate again first. The client gets a re-authentication token and repeats the request. */
export const reauthenticationRequired = (): Failure => forbidden('reauthentication_required');
/** The same for a token that is good for one request, and was used by another one of the same session. */
export const reauthenticationSpent = (): Failure => ({
  ...reauthenticationRequired(),
  fields: [{ field: 'X-ReAuth-Token', message: 'was used already: a token is for one write' }],
});
export const notFound = failure('notFound', 'not_found');
/** The same for an id in a body: `field` names no record of this tenant. `what`: "a group". */
export const notFoundIn = (field: string, what: string): Failure => ({
  ...notFound(),
  fields: [{ field, message: `is not the id of ${what}` }],
});
export const conflict = failure('conflict', 'already_exists');
/** Another record has the same value of this field, or of these fields together. */
export const alreadyExists = (...fields: readonly string[]): Failure =>
  fields.length === 0
    ? conflict()
    : { ...conflict(), fields: fields.map((field) => ({ field, message: errorCodes.already_exists.error })) };
/** A record that names another one. `kind`: "push rule". */
export interface NamingRecord {
  readonly kind: string;
  readonly id: string;
  readonly name: string;
}
/** As many as a person wants to read. */
const NAMING_SHOWN = 20;
/** A record that others name is not deleted: they would reach fewer people without a word (OP-438). */
export const refuseNamed = (naming: readonly NamingRecord[]): Failure | undefined =>
  naming.length === 0
    ? undefined
    : {
        ...conflict('still_named'),
        fields: naming
          .slice(0, NAMING_SHOWN)
          .map(({ kind, id, name }) => ({ field: id, message: `the ${kind} "${name}" names it` })),
      };
export const stale = failure('stale', 'changed_meanwhile');
export const tooLarge = failure('tooLarge', 'payload_too_large');
/** The same where fields are at fault: a file, or texts. */
export const tooLargeIn = (
  fields: readonly [string, ...string[]],
  reason: string,
  code: CodeOf<'tooLarge'> = 'payload_too_large',
): Failure => ({
  ...tooLarge(code, `${fields[0]}: ${reason}`),
  fields: fields.map((field) => ({ field, message: reason })),
});
/** Without seconds, a retry makes no sense before an operator or administrator changes something. */
export const unavailable = failure('unavailable', 'service_unavailable');
/** A failover or a restart takes seconds. */
export const RETRY_AFTER_SECONDS = 2;
/** The same request may succeed soon. */
export const temporarilyUnavailable = (code?: CodeOf<'unavailable'>): Failure => ({
  ...unavailable(code),
  retryAfterSeconds: RETRY_AFTER_SECONDS,
});
export const limited = (retryAfterSeconds: number): Failure => ({
  ...failure('limited', 'rate_limit_exceeded')(),
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
