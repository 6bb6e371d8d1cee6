/**
 * SQLSTATEs after which the same request may succeed later: connection errors (08), resources such as a full disk or
 * too many connections (53), operator intervention such as a restart or a statement timeout (57), input and output
 * (58), a statement that came too late (CA002), refused login (28), lock timeouts (55P03), serialization failures, deadlocks and idle transactions (40,
 * 25P03), and a read-only server such as a standby (25006).
 */
const CODES = /^(08...|53...|57...|58...|28...|40...|55P03|25P03|25006|CA002)$/;

/** Errors of sockets and of name resolution. `ENOENT`: the Unix socket does not exist. */
const SOCKET_CODES: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ECONNABORTED',
]);

/** The server's certificate, or its TLS, is not what the connection demands. */
const TLS_CODES: ReadonlySet<unknown> = new Set([
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'EPROTO',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'INVALID_CA',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** The driver throws errors without a code for these. */
const DRIVER_MESSAGES: ReadonlySet<string> = new Set([
  'Connection terminated',
  'Connection terminated unexpectedly',
  'Connection terminated due to connection timeout',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
  'The server does not support SSL connections',
  'There was an error establishing an SSL connection',
  'timeout exceeded when trying to connect',
  'timeout expired',
]);

/**
 * The database did not respond within its pool's deadline. The connection is destroyed, because its state is unknown.
 */
export class DatabaseTimeout extends Error {
  constructor(milliseconds: number) {
    super(`the database did not respond within ${milliseconds} ms`);
    this.name = 'DatabaseTimeout';
  }
}

/**
 * The database is unavailable, silent, full or overloaded: the request itself is not at fault. Also checks the causes
 * of the error.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth += 1) {
    const { code, syscall } = cause as { code?: unknown; syscall?: unknown };
    if (cause instanceof DatabaseTimeout || SOCKET_CODES.has(code) || TLS_CODES.has(code)) return true;
    if (code === 'ENOENT' && syscall === 'connect') return true;
    if (typeof code === 'string' ? CODES.test(code) : DRIVER_MESSAGES.has(cause.message)) return true;
  }
  return false;
}
