import { isIP } from 'node:net';
import { Agent, request, type Dispatcher } from 'undici';
import { guardedLookup, isAllowed, NOT_PUBLIC, OutboundRefused, type AddressGuard } from './address-guard.ts';

export { OutboundRefused } from './address-guard.ts';

export interface GuardOptions extends AddressGuard {
  /** Limits the whole call, from name resolution to the last byte. */
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
  /** Certificates of authorities (PEM) to trust instead of the system's. */
  readonly ca?: string;
}

export interface OutboundRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'HEAD' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly signal?: AbortSignal;
}

export type GuardedFetch = (address: string | URL, request?: OutboundRequest) => Promise<Response>;

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 1024 * 1024;
const WITHOUT_BODY = new Set([204, 205, 304]);

/**
 * A fetch for addresses that users enter. It calls only HTTPS addresses, on the public internet or in the given private
 * networks. The name is resolved once, all its addresses must be allowed, and the connection goes to one of them; this
 * defeats DNS rebinding. Redirects are returned, not followed. Bodies are bounded and never decompressed, so a small response stays small.
 *
 * Throws `OutboundRefused` for an address that it does not call, and any other Error if the peer does not respond
 * properly.
 */
export function guardedFetch(options: GuardOptions): GuardedFetch {
  const { timeoutMs = TIMEOUT_MS, maxBytes = MAX_BYTES, ca } = options;
  const dispatcher = new Agent({
    maxResponseSize: maxBytes,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    connect: { timeout: timeoutMs, lookup: guardedLookup(options), ...(ca === undefined ? {} : { ca }) },
  });
  return async (address, { method = 'GET', headers = {}, body, signal } = {}) => {
    const url = checkedUrl(address, options);
    const deadline = AbortSignal.timeout(timeoutMs);
    const response = await request(url, {
      dispatcher,
      method,
      headers: { 'accept-encoding': 'identity', ...headers },
      body: body ?? null,
      signal: signal ? AbortSignal.any([deadline, signal]) : deadline,
      reset: true,
    });
    const content = await response.body.arrayBuffer();
    return new Response(WITHOUT_BODY.has(response.statusCode) ? null : content, {
      status: response.statusCode,
      headers: headersOf(response),
    });
  };
}

/** Parses the address as the URL standard does: `0x7f.1` and `2130706433` become `127.0.0.1`. */
function checkedUrl(address: string | URL, options: GuardOptions): URL {
  if (!URL.canParse(address.toString())) throw new OutboundRefused('the address is not a URL');
  const url = new URL(address);
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
