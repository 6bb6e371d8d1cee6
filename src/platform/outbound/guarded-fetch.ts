import { lookup as systemLookup, type LookupAddress, type LookupOptions } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, request, type Dispatcher } from 'undici';
import { isPublicAddress } from './public-addresses.ts';

/** An address that this house does not call, whoever asks. Says nothing about what was found there. */
export class OutboundRefused extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'OutboundRefused';
  }
}

export interface GuardOptions {
  /** Lets private addresses and plain HTTP through: for development, where the peer runs on the same machine. */
  readonly allowPrivate: boolean;
  /** For everything from look-up to last byte. */
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
  /** Certificates to trust besides the system's. */
  readonly ca?: string;
  /** How names are resolved; the system's way unless given. */
  readonly resolve?: (
    name: string,
    options: LookupOptions,
    done: (error: Error | null, addresses: LookupAddress[]) => void,
  ) => void;
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
 * A fetch for addresses that somebody typed in. It speaks HTTPS to the public internet alone; the name is resolved once,
 * every address that it has must be public, and the connection goes to one of those, so that a name that changes its mind
 * in between gains nothing. Redirects are answered, not followed. Bodies are as they came (never decompressed, so a small
 * answer stays small) and bounded.
 *
 * Throws `OutboundRefused` for what it does not call, and any other Error for a peer that does not answer properly.
 */
export function guardedFetch(options: GuardOptions): GuardedFetch {
  const { allowPrivate, timeoutMs = TIMEOUT_MS, maxBytes = MAX_BYTES, ca } = options;
  const dispatcher = new Agent({
    maxResponseSize: maxBytes,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    connect: { timeout: timeoutMs, lookup: guardedLookup(options), ...(ca === undefined ? {} : { ca }) },
  });
  return async (address, { method = 'GET', headers = {}, body, signal } = {}) => {
    const url = checkedUrl(address, allowPrivate);
    const deadline = AbortSignal.timeout(timeoutMs);
    const answer = await request(url, {
      dispatcher,
      method,
      headers: { 'accept-encoding': 'identity', ...headers },
      body: body ?? null,
      signal: signal ? AbortSignal.any([deadline, signal]) : deadline,
      reset: true,
    });
    const content = await answer.body.arrayBuffer();
    return new Response(WITHOUT_BODY.has(answer.statusCode) ? null : content, {
      status: answer.statusCode,
      headers: headersOf(answer),
    });
  };
}

/** The address as the URL standard reads it: `0x7f.1` and `2130706433` have become `127.0.0.1` by now. */
function checkedUrl(address: string | URL, allowPrivate: boolean): URL {
  if (!URL.canParse(address.toString())) throw new OutboundRefused('the address is not a URL');
  const url = new URL(address);
  const { protocol, username, password, hostname } = url;
  if (protocol !== 'https:' && !(allowPrivate && protocol === 'http:'))
    throw new OutboundRefused('the address must start with https://');
  if (username || password) throw new OutboundRefused('the address must not contain credentials');
  // An address in figures is never looked up, so it is judged here.
  const literal = hostname.replace(/^\[|\]$/g, '');
  if (!allowPrivate && isIP(literal) !== 0 && !isPublicAddress(literal))
    throw new OutboundRefused('the address is not public');
  return url;
}

function guardedLookup({
  allowPrivate,
  resolve = (name, asked, done) => systemLookup(name, { ...asked, all: true }, done),
}: GuardOptions): LookupFunction {
  return (name, asked, done) => {
    resolve(name, asked, (error, addresses) => {
      if (error) return done(error, '');
      // One private address among public ones is reason enough: nobody needs such a name but to get in.
      const refused =
        addresses.length === 0 || (!allowPrivate && addresses.some(({ address }) => !isPublicAddress(address)));
      if (refused) return done(new OutboundRefused('the address is not public'), '');
      const [first] = addresses;
      if (asked.all) done(null, addresses);
      else done(null, first!.address, first!.family);
    });
  };
}

function headersOf({ headers }: Dispatcher.ResponseData): Headers {
  const all = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    for (const one of Array.isArray(value) ? value : [value ?? '']) all.append(name, one);
  }
  return all;
}
