import { isIP } from 'node:net';
import { Agent, request, type Dispatcher } from 'undici';
import { guardedLookup, isAllowed, NOT_PUBLIC, OutboundRefused, type AddressGuard } from './address-guard.ts';
import { parsedUrl } from '../kernel/parsed-url.ts';

export { OutboundRefused } from './address-guard.ts';

export interface GuardOptions extends AddressGuard {
  /** Limits the whole call, from name resolution to the last byte. */
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
  /** Certificates of authorities (PEM) to trust instead of the system's. */
  readonly ca?: string;
  /**
   * Connections stay open between calls, for a caller who sends to one destination of one tenant: nobody else uses them.
   * A call that finds its connection closed is sent again over another one, so requests must be recognizable as
   * repetitions. Default: each call opens a connection.
   */
  readonly keepsConnections?: boolean;
}

export interface OutboundRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'HEAD' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly signal?: AbortSignal;
}

export type GuardedFetch = (address: string | URL, request?: OutboundRequest) => Promise<Response>;

const TIMEOUT_MS = 10_000;
/** Of a response, unless the caller sets another limit. */
export const MAX_BYTES = 1024 * 1024;
const WITHOUT_BODY = new Set([204, 205, 304]);

/** Connections to one destination at a time. */
const MAX_CONNECTIONS = 4;
const KEPT = {
  connections: MAX_CONNECTIONS,
  pipelining: 1,
  /** How long a connection may be idle: shorter than the limits of usual servers. The second bounds what a server asks for. */
  keepAliveTimeout: 4_000,
  keepAliveMaxTimeout: 10_000,
  /** A connection is no longer used after this time: the name is resolved and checked again. */
  clientTtl: 60_000,
} as const;

/**
 * A fetch for addresses that users enter. It calls only HTTPS addresses, on the public internet or in the given private
 * networks. The name is resolved once, all its addresses must be allowed, and the connection goes to one of them; this
 * defeats DNS rebinding. A connection that is kept stays with the address that was checked when it was opened. Redirects
 * are returned, not followed. Bodies are bounded and never decompressed, so a small response stays small.
 *
 * Throws `OutboundRefused` for an address that it does not call, and any other Error if the peer does not respond
 * properly.
 */
export function guardedFetch(options: GuardOptions): GuardedFetch {
  const { timeoutMs = TIMEOUT_MS, maxBytes = MAX_BYTES, ca, keepsConnections = false } = options;
  const dispatcher = new Agent({
    maxResponseSize: maxBytes,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    connect: { timeout: timeoutMs, lookup: guardedLookup(options), ...(ca === undefined ? {} : { ca }) },
    ...(keepsConnections ? KEPT : {}),
  });
  let opened = 0;
  dispatcher.on('connect', () => (opened += 1)).on('connectionError', () => (opened += 1));
  return async (address, { method = 'GET', headers = {}, body, signal } = {}) => {
    const url = checkedUrl(address, options);
    const deadline = AbortSignal.timeout(timeoutMs);
    const call = async () => {
      const response = await request(url, {
        dispatcher,
        method,
        headers: { 'accept-encoding': 'identity', ...headers },
        body: body ?? null,
        signal: signal ? AbortSignal.any([deadline, signal]) : deadline,
        reset: !keepsConnections,
      });
      return { response, content: await response.body.arrayBuffer() };
    };
    const attempt = async (tries: number): ReturnType<typeof call> => {
      const before = opened;
      try {
        return await call();
      } catch (error) {
        // No connection was opened, so the call went over one that the peer had closed meanwhile.
        if (tries > 0 && opened === before && isClosed(error)) return attempt(tries - 1);
        throw error;
      }
    };
    const { response, content } = await attempt(keepsConnections ? MAX_CONNECTIONS : 0);
    return new Response(WITHOUT_BODY.has(response.statusCode) ? null : content, {
      status: response.statusCode,
      headers: headersOf(response),
    });
  };
}

const CLOSED = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);
const isClosed = (error: unknown): boolean => CLOSED.has(String((error as { code?: unknown }).code));

/** Parses the address as the URL standard does: `0x7f.1` and `2130706433` become `127.0.0.1`. */
export function checkedUrl(address: string | URL, options: AddressGuard): URL {
  const url = parsedUrl(address);
  if (!url) throw new OutboundRefused('the address is not a URL');
  const { protocol, username, password, hostname } = url;
  if (protocol !== 'https:' && !(options.allowPrivate && protocol === 'http:'))
    throw new OutboundRefused('the address must start with https://');
  if (username || password) throw new OutboundRefused('the address must not contain credentials');
  // A literal address is never looked up, so it is checked here.
  const literal = hostname.replace(/^\[|\]$/g, '');
  if (isIP(literal) !== 0 && !isAllowed(literal, options)) throw new OutboundRefused(NOT_PUBLIC);
  return url;
}

function headersOf({ headers }: Dispatcher.ResponseData): Headers {
  const all = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    for (const one of Array.isArray(value) ? value : [value ?? '']) all.append(name, one);
  }
  return all;
}
