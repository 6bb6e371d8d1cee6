import { Readable } from 'node:stream';
import { Agent, request } from 'undici';
import { guardedLookup, OutboundRefused, type AddressGuard } from './address-guard.ts';
import { checkedUrl } from './guarded-fetch.ts';
import { parsedUrl } from '../kernel/parsed-url.ts';

export interface DownloadOptions {
  /** The guard of an address, asked again for each redirect. */
  readonly guardOf: (url: URL) => AddressGuard;
  /** Limits the whole download, from the first name resolution to the last byte. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

/** The peer does not give the file. */
export class DownloadRefused extends Error {
  /** Whether the same request may succeed later. */
  readonly isPassing: boolean;

  constructor(reason: string, isPassing: boolean) {
    super(reason);
    this.name = 'DownloadRefused';
    this.isPassing = isPassing;
  }
}

/** Streams the body to `take`, which must read it to its end, and returns its result. Aborting the signal gives up. */
export type GuardedDownload = <T>(
  address: string,
  take: (body: Readable) => Promise<T>,
  signal?: AbortSignal,
) => Promise<T>;

const MOST_REDIRECTS = 3;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const CONNECT_MS = 10_000;

/**
 * `guardedFetch` for files that do not fit into memory. The body is passed on as it arrives, up to `maxBytes`. A few
 * redirects are followed; the address of each is checked like the first one, and none leads from HTTPS to HTTP. Throws
 * `OutboundRefused`, `DownloadRefused`, what `take` throws, or another Error if the connection fails.
 */
export function guardedDownload({ guardOf, timeoutMs, maxBytes }: DownloadOptions): GuardedDownload {
  return async (address, take, given) => {
    const deadline = AbortSignal.timeout(timeoutMs);
    const signal = given ? AbortSignal.any([deadline, given]) : deadline;
    let target = address;
    let from: URL | undefined;
    for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects += 1) {
      const url = checkedTarget(target, from, guardOf);
      const agent = agentFor(guardOf(url), timeoutMs);
      try {
        const headers = { 'accept-encoding': 'identity' };
        const response = await request(url, { dispatcher: agent, signal, headers, reset: true });
        // A body that is not read ends with an error when its connection does.
        response.body.on('error', () => undefined);
        const { location } = response.headers;
        if (!REDIRECTS.has(response.statusCode) || typeof location !== 'string') {
          refuseUnusable(response.statusCode, response.headers, maxBytes);
          return await take(Readable.from(bounded(response.body, maxBytes), { objectMode: false }));
        }
        [target, from] = [location, url];
      } finally {
        // Ends the connection, also of a body that was not read.
        await agent.destroy();
      }
    }
    throw new DownloadRefused('the download was redirected too often', false);
  };
}

function checkedTarget(target: string, from: URL | undefined, guardOf: DownloadOptions['guardOf']): URL {
  const url = parsedUrl(target, from);
  if (!url) throw new OutboundRefused('the address is not a URL');
  if (from?.protocol === 'https:' && url.protocol !== 'https:')
    throw new OutboundRefused('a redirect must not leave HTTPS');
  return checkedUrl(url, guardOf(url));
}

const agentFor = (guard: AddressGuard, timeoutMs: number): Agent =>
  new Agent({
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    connect: { timeout: CONNECT_MS, lookup: guardedLookup(guard) },
  });

type Headers = Readonly<Record<string, string | string[] | undefined>>;

function refuseUnusable(status: number, headers: Headers, maxBytes: number): void {
  if (status !== 200)
    throw new DownloadRefused(`the server responded with status ${status}`, status >= 500 || status === 429);
  if (headers['content-encoding'] !== undefined && headers['content-encoding'] !== 'identity')
    throw new DownloadRefused('the server compressed the file', false);
  if (Number(headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
}

async function* bounded(body: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    yield chunk;
  }
}

const tooLarge = (maxBytes: number) =>
  new DownloadRefused(`the file is larger than ${Math.floor(maxBytes / (1024 * 1024))} MiB`, false);
