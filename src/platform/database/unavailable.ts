/**
 * SQLSTATEs after which the same request may succeed later: connection trouble (08), resources such as a full disk or too many
 * connections (53), operator intervention such as a restart or a statement that took too long (57), input and output (58), refused
 * log-in (28), locks that were not had in time (55P03), transactions that lost to others or stood idle (40, 25P03), and a server
 * that only reads, as a standby does (25006).
 */
const CODES = /^(08...|53...|57...|58...|28...|40...|55P03|25P03|25006)$/;

/** Of sockets, and of looking up the server's name. `ENOENT`: a Unix socket that is not there. */
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

/** The driver throws plain errors for these. */
const DRIVER_MESSAGES: ReadonlySet<string> = new Set([
  'Connection terminated',
  'Connection terminated unexpectedly',
  'Connection terminated due to connection timeout',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
  'timeout exceeded when trying to connect',
  'timeout expired',
]);

/** The database did not answer within the deadline of its pool. The connection is destroyed: its state is not known. */
export class DatabaseTimeout extends Error {
  constructor(milliseconds: number) {
    super(`the database did not answer within ${milliseconds} ms`);
    this.name = 'DatabaseTimeout';
  }
}

/** The database is away, silent, full or overloaded: nothing is wrong with the request. Looks through the errors that caused this one. */
export function isDatabaseUnavailable(error: unknown): boolean {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth += 1) {
    const { code, syscall } = cause as { code?: unknown; syscall?: unknown };
    if (cause instanceof DatabaseTimeout || SOCKET_CODES.has(code) || (code === 'ENOENT' && syscall === 'connect'))
      return true;
    if (typeof code === 'string' ? CODES.test(code) : DRIVER_MESSAGES.has(cause.message)) return true;
  }
  return false;
}
