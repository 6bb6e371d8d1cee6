import type { IncomingMessage } from 'node:http';
import { randomUUID } from 'node:crypto';

/** Common forms: UUID, nginx's 32 digits, AWS's `1-…-…`. No e-mail address fits, because the id is stored with events. */
const REQUEST_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{7,63}$/;
/** W3C Trace Context §3.2: version, trace id, parent id, flags. */
const TRACE_PARENT = /^[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-|$)/;

/** The caller's `X-Request-ID` if it has the form of an id, otherwise a new one. It correlates logs, events and jobs. */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
}

/** The trace id of the caller's `traceparent`, if it is valid. */
export const traceIdOf = ({ headers }: Pick<IncomingMessage, 'headers'>): string | undefined => {
  const given = headers['traceparent'];
  return typeof given === 'string' ? TRACE_PARENT.exec(given)?.[1] : undefined;
};
