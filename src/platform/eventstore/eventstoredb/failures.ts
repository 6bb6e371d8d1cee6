import { ErrorType } from '@eventstore/db-client';
import { EventStoreUnavailable } from '../port.ts';

/** We gave up on a call because no response came. */
export class TimedOut extends Error {
  constructor(timeoutMs: number) {
    super(`no response within ${Math.round(timeoutMs)} ms`);
    this.name = 'TimedOut';
  }
}

/**
 * The server rejected user, password or right. Operators can fix this while the service runs, so callers are told to
 * retry.
 */
export class AccessRefused extends EventStoreUnavailable {
  readonly type = ErrorType.ACCESS_DENIED;
  readonly code: number | string | undefined;

  constructor(cause: unknown) {
    super(`the event store refuses access: ${(cause as Error).message}`, { cause });
    this.name = 'AccessRefused';
    this.code = (cause as CallFailure).code;
  }
}

/** Converts the error to our own class, if there is one. */
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

/**
 * gRPC status codes after which the same call may succeed. UNKNOWN and INTERNAL are among them, because elections cause
 * them.
 */
const CANCELLED = 1;
const UNKNOWN = 2;
const INVALID_ARGUMENT = 3;
const DEADLINE_EXCEEDED = 4;
const RESOURCE_EXHAUSTED = 8;
const ABORTED = 10;
const OUT_OF_RANGE = 11;
const INTERNAL = 13;
const UNAVAILABLE = 14;
/** Node's error code for a stream that ended early. */
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

/** The code is used if the client does not know the error type, or passes the error on unchanged. */
export function isTransient(error: unknown): boolean {
  if (error instanceof TimedOut) return true;
  const { type, code } = error as CallFailure;
  if (type !== undefined && TRANSIENT_TYPES.has(type)) return true;
  if (type !== undefined && type !== ErrorType.UNKNOWN) return false;
  if (code !== undefined) return TRANSIENT_CODES.has(code);
  // Without a code: a response that the client did not recognize, or a cluster none of whose seeds responds.
  return type === ErrorType.UNKNOWN || (error as Error).message.startsWith('Failed to discover');
}

/**
 * The error may mean that nothing was written at the start position. The server has no specific error for that, and its
 * internal errors look the same.
 */
export function mayDenyPosition(error: unknown): boolean {
  const { code } = error as CallFailure;
  return code === UNKNOWN || code === INVALID_ARGUMENT || code === OUT_OF_RANGE;
}

/**
 * No response came. The client notices a broken connection and reconnects by itself; a dead connection it does not
 * notice.
 */
export const isSilence = (error: unknown): boolean =>
  error instanceof TimedOut || (error as CallFailure).type === ErrorType.DEADLINE_EXCEEDED;

export const isMissingStream = (error: unknown): boolean => (error as CallFailure).type === ErrorType.STREAM_NOT_FOUND;

export const isTooLarge = (error: unknown): boolean =>
  (error as CallFailure).type === ErrorType.MAXIMUM_APPEND_SIZE_EXCEEDED;

/** Returns the stream's actual revision, -1 if it does not exist; undefined for any other error. */
export function wrongRevision(error: unknown): bigint | undefined {
  if ((error as CallFailure).type !== ErrorType.WRONG_EXPECTED_VERSION) return undefined;
  const { actualVersion } = error as { actualVersion?: bigint | 'no_stream' };
  return typeof actualVersion === 'bigint' ? actualVersion : -1n;
}
