import { z } from 'zod';
import { errorCodes, type ErrorCode, type ErrorKind } from '../../platform/kernel/error-codes.ts';
import { RETRY_AFTER_SECONDS, type Failure, type FieldError } from '../../platform/kernel/failure.ts';

/** The only mapping from kinds of errors to HTTP status codes (interface, "Errors"; choice OP-016). */
const STATUS: Readonly<Record<ErrorKind, number>> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  notFound: 404,
  methodNotAllowed: 405,
  requestTimeout: 408,
  conflict: 409,
  stale: 412,
  tooLarge: 413,
  addressTooLong: 414,
  unsupportedMedia: 415,
  expectationFailed: 417,
  limited: 429,
  headersTooLarge: 431,
  defect: 500,
  unsupported: 501,
  unavailable: 503,
};

/** An error response, before a protocol gives it a body of its own. */
export interface Refusal {
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
  readonly fields: readonly FieldError[];
  readonly retryAfter?: number;
}

interface RefusalDetails {
  readonly message?: string;
  readonly fields?: readonly FieldError[];
  readonly retryAfter?: number;
}

export const statusOf = (code: ErrorCode): number => STATUS[errorCodes[code].kind];

/** A 503 names the seconds until a retry, unless it lasts until an operator or administrator changes something. */
const usualRetry = (code: ErrorCode): number | undefined =>
  errorCodes[code].kind === 'unavailable' && !('isLasting' in errorCodes[code]) ? RETRY_AFTER_SECONDS : undefined;

export function refusalOf(
  code: ErrorCode,
  { message = errorCodes[code].error, fields = [], retryAfter = usualRetry(code) }: RefusalDetails = {},
): Refusal {
  return { status: statusOf(code), code, message, fields, ...(retryAfter === undefined ? {} : { retryAfter }) };
}

export const refusalOfFailure = ({ code, message, fields = [], retryAfterSeconds }: Failure): Refusal =>
  refusalOf(code, { message, fields, ...(retryAfterSeconds === undefined ? {} : { retryAfter: retryAfterSeconds }) });

/** For bodies without `fields`: a refused media type, with the one that is right. */
export const withMedia = ({ code, message, fields }: Refusal): string =>
  code === 'unsupported_media_type'
    ? [message, ...fields.map(({ field, message: reason }) => `${field} ${reason}`)].join(': ')
    : message;

/** The body of every error response, unless a protocol defines another (`refusal` of a route). */
export const errorBodyView = z
  .object({
    error: z.string().describe('What is wrong, for people'),
    code: z.string().describe('The cause, for programs: stable, one per cause; see docs/reference/errors.md'),
    fields: z
      .array(z.object({ field: z.string(), message: z.string() }))
      .describe('Every wrong field of the input, by path, parameter or header; empty if no field is at fault'),
    requestId: z.string().describe('As in `X-Request-ID`; the log of the service has it, too'),
  })
  .meta({ title: 'Error' });
export type ErrorBody = Readonly<z.output<typeof errorBodyView>> & { readonly code: ErrorCode };

export const errorBody = ({ message, code, fields }: Refusal, requestId: string): ErrorBody => ({
  error: message,
  code,
  fields: [...fields],
  requestId,
});
