import { ErrorType } from '@eventstore/db-client';
import { EventStoreUnavailable } from '../port.ts';

/** A call was given up by us because nothing came back. */
export class TimedOut extends Error {
  constructor(timeoutMs: number) {
    super(`no answer within ${Math.round(timeoutMs)} ms`);
    this.name = 'TimedOut';
  }
}

/** The server refused user, password or right. An operator mends it while the service runs, so callers are told to come back. */
export class AccessRefused extends EventStoreUnavailable {
  readonly type = ErrorType.ACCESS_DENIED;
  readonly code: number | string | undefined;

  constructor(cause: unknown) {
    super(`the event store refuses access: ${(cause as Error).message}`, { cause });
    this.name = 'AccessRefused';
    this.code = (cause as CallFailure).code;
  }
}

/** The error under our own name, where callers know one. */
export const toKnownError = (error: unknown): unknown =>
  (error as CallFailure).type === ErrorType.ACCESS_DENIED ? new AccessRefused(error) : error;

interface CallFailure {
  readonly type?: string;
  readonly code?: number | string;
}

const TRANSIENT_TYPES = new Set<string>([
  ErrorType.TIMEOUT,
  ErrorType.DEADLINE_EXCEEDED,
  ErrorType.UNAVAILABLE,
  ErrorType.CANCELLED,
  ErrorType.NOT_LEADER,
]);

/** gRPC status codes after which the same call may succeed; `unknown` and `internal` among them, as elections show as such. */
const CANCELLED = 1;
const UNKNOWN = 2;
const INVALID_ARGUMENT = 3;
const DEADLINE_EXCEEDED = 4;
const RESOURCE_EXHAUSTED = 8;
const ABORTED = 10;
const OUT_OF_RANGE = 11;
const INTERNAL = 13;
const UNAVAILABLE = 14;
/** Node's own word for a stream that ended before it was over. */
const PREMATURE_CLOSE = 'ERR_STREAM_PREMATURE_CLOSE';
const TRANSIENT_CODES = new Set<number | string>([
  CANCELLED,
  UNKNOWN,
  DEADLINE_EXCEEDED,
  RESOURCE_EXHAUSTED,
  ABORTED,
  INTERNAL,
  UNAVAILABLE,
  PREMATURE_CLOSE,
]);

/** The code counts where the client has no name for an error, or lets it through as it came. */
export function isTransient(error: unknown): boolean {
  if (error instanceof TimedOut) return true;
  const { type, code } = error as CallFailure;
  if (type !== undefined && TRANSIENT_TYPES.has(type)) return true;
  if (type !== undefined && type !== ErrorType.UNKNOWN) return false;
  if (code !== undefined) return TRANSIENT_CODES.has(code);
  // Without a code: an answer that the client did not recognise, or a cluster none of whose seeds answers.
  return type === ErrorType.UNKNOWN || (error as Error).message.startsWith('Failed to discover');
}

/**
 * The server may mean that nothing stands at the place from which it was to read: it has no answer of its own for that, and an illness
 * of its own looks the same.
 */
export function mayDenyPosition(error: unknown): boolean {
  const { code } = error as CallFailure;
  return code === UNKNOWN || code === INVALID_ARGUMENT || code === OUT_OF_RANGE;
}

/** Nothing came back. A connection that breaks says so, and the client dials again by itself; a dead one does not. */
export const isSilence = (error: unknown): boolean =>
  error instanceof TimedOut || (error as CallFailure).type === ErrorType.DEADLINE_EXCEEDED;

export const isMissingStream = (error: unknown): boolean => (error as CallFailure).type === ErrorType.STREAM_NOT_FOUND;

export const isTooLarge = (error: unknown): boolean =>
  (error as CallFailure).type === ErrorType.MAXIMUM_APPEND_SIZE_EXCEEDED;

/** The revision at which the stream was found instead, -1 for none; undefined when the error is another one. */
export function wrongRevision(error: unknown): bigint | undefined {
  if ((error as CallFailure).type !== ErrorType.WRONG_EXPECTED_VERSION) return undefined;
  const { actualVersion } = error as { actualVersion?: bigint | 'no_stream' };
  return typeof actualVersion === 'bigint' ? actualVersion : -1n;
}
