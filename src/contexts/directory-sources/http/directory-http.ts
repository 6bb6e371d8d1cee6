import { setTimeout as sleep } from 'node:timers/promises';
import { OutboundRefused, type GuardedFetch, type OutboundRequest } from '../../../platform/outbound/guarded-fetch.ts';
import { DirectoryFailed, DirectoryForbids } from '../domain/directory-reader.ts';
import { parsedUrl } from '../../../platform/kernel/parsed-url.ts';

/** One page of 1,000 people, with room. */
export const MAX_PAGE_BYTES = 16 * 1024 * 1024;
export const PAGE_TIMEOUT_MS = 30_000;
const MAX_PAGES = 20_000;
const ATTEMPTS = 6;
const FIRST_WAIT_MS = 500;
/** A provider that wants a longer pause gets it at the next run. */
const LONGEST_WAIT_MS = 60_000;
/** Pauses and requests of one call together, while somebody waits for the response: a browser gives up after a minute. */
export const CALL_TIMEOUT_MS = 8_000;

/** Gets the `Authorization` header. `renew`: the one before was refused. */
export type Authorize = (renew: boolean) => Promise<string>;

export interface DirectoryHttpOptions {
  readonly fetch: GuardedFetch;
  /** Pages and retries stay on this origin: the credential is meant for nobody else. */
  readonly origin: string;
  readonly authorize: Authorize;
  /** For pauses and requests of one call before its last attempt. Without it, as long as the attempts last. */
  readonly callTimeoutMs?: number | undefined;
  readonly wait?: (ms: number) => Promise<unknown>;
}

export interface JsonPage {
  readonly body: Readonly<Record<string, unknown>> | readonly unknown[];
  readonly headers: Headers;
}

/** Calls the HTTP interface of one provider: authorized, patient with its limits, and never elsewhere. */
export class DirectoryHttp {
  readonly #options: DirectoryHttpOptions;
  readonly #wait: (ms: number) => Promise<unknown>;
  readonly #seen = new Set<string>();

  constructor(options: DirectoryHttpOptions) {
    this.#options = options;
    this.#wait = options.wait ?? ((ms) => sleep(ms));
  }

  /** For addresses of pages that the provider names. The same address twice would be an endless list. */
  async nextPage(address: string, headers: Readonly<Record<string, string>> = {}): Promise<JsonPage> {
    if (this.#seen.has(address)) throw new DirectoryFailed('the directory repeats a page');
    if (this.#seen.size >= MAX_PAGES) throw new DirectoryFailed('the directory lists too many pages');
    this.#seen.add(address);
    return this.get(address, headers);
  }

  /** Undefined: there is nothing at the address. */
  async find(address: string): Promise<JsonPage | undefined> {
    try {
      return await this.get(address);
    } catch (error) {
      if (error instanceof NothingThere) return undefined;
      throw error;
    }
  }

  async get(address: string, headers: Readonly<Record<string, string>> = {}): Promise<JsonPage> {
    const url = this.#within(address);
    let renew = false;
    let left = this.#options.callTimeoutMs ?? Infinity;
    for (let attempt = 1; ; attempt += 1) {
      const begunAt = performance.now();
      const authorization = await this.#options.authorize(renew);
      const response = await sent(this.#options.fetch, url, {
        headers: { accept: 'application/json', ...headers, authorization },
      });
      if (response?.status === 200) return { body: await jsonOf(response), headers: response.headers };
      const isRefused = response?.status === 401;
      if (isRefused && renew) throw new DirectoryFailed('the directory refuses the credentials', { isLasting: true });
      if (response && !isRefused && !(await mayPass(response))) throw refusal(response.status);
      if (attempt === ATTEMPTS) throw absence(response);
      renew = isRefused;
      if (isRefused) continue;
      const pause = pauseOf(response, attempt);
      if ((left -= pause + performance.now() - begunAt) < 0) throw absence(response);
      await this.#wait(pause);
    }
  }

  #within(address: string): URL {
    const url = parsedUrl(address);
    if (url?.origin !== this.#options.origin) throw new DirectoryFailed('the directory refers to another server');
    return url;
  }
}

/** Undefined: no response. Throws if the address is not to be called. */
async function sent(fetch: GuardedFetch, url: URL, request: OutboundRequest): Promise<Response | undefined> {
  try {
    return await fetch(url, request);
  } catch (error) {
    if (error instanceof OutboundRefused) throw new DirectoryFailed(error.message, { isLasting: true, cause: error });
    if (/certificate|self.signed|altname/i.test(messagesOf(error)))
      throw new DirectoryFailed("the directory's certificate is not trusted", { cause: error });
    return undefined;
  }
}

const messagesOf = (error: unknown): string =>
  error instanceof Error ? `${error.message} ${messagesOf(error.cause)}` : '';

const COME_BACK = 'the directory asks to come back later';

/** After the last attempt. A directory that limits requests is there: nobody need look for a firewall. */
const absence = (response: Response | undefined): DirectoryFailed =>
  new DirectoryFailed(
    response?.status === 429 || response?.status === 403 ? COME_BACK : 'the directory cannot be reached',
  );

const passes = (status: number): boolean => status === 429 || status === 408 || status >= 500;

const mayPass = async (response: Response): Promise<boolean> =>
  passes(response.status) || (response.status === 403 && (await isLimited(response)));

/** Google says 403 where others say 429. */
const LIMITS = new Set(['rateLimitExceeded', 'userRateLimitExceeded', 'quotaExceeded', 'RESOURCE_EXHAUSTED']);

async function isLimited(response: Response): Promise<boolean> {
  const body: unknown = await response.json().catch(() => undefined);
  const { error } = (body ?? {}) as { error?: unknown };
  const reasons = (error as { errors?: unknown } | undefined)?.errors;
  return [error, ...(Array.isArray(reasons) ? (reasons as unknown[]) : [])].some(
    (each) => LIMITS.has(stringIn(each, 'reason') ?? '') || LIMITS.has(stringIn(each, 'status') ?? ''),
  );
}

class NothingThere extends DirectoryFailed {}

function refusal(status: number): DirectoryFailed {
  if (status === 403) return new DirectoryForbids('the credentials lack a permission of the directory');
  const reason = `the directory returned status ${status}`;
  return status === 404 ? new NothingThere(reason) : new DirectoryFailed(reason);
}

/** `Retry-After` in seconds or as a date (RFC 9110 §10.2.3), or Okta's time of reset in epoch seconds. */
export function pauseOf(response: Response | undefined, attempt: number, now = Date.now()): number {
  const wanted = response?.headers.get('retry-after');
  const reset = response?.headers.get('x-rate-limit-reset');
  const asked =
    wanted !== null && wanted !== undefined
      ? /^\d+$/.test(wanted)
        ? Number(wanted) * 1_000
        : Date.parse(wanted) - now
      : reset
        ? Number(reset) * 1_000 - now
        : NaN;
  const usual = FIRST_WAIT_MS * 2 ** (attempt - 1);
  const ms = Number.isFinite(asked) ? Math.max(asked, 0) : usual;
  if (ms > LONGEST_WAIT_MS) throw new DirectoryFailed(COME_BACK);
  return ms;
}

async function jsonOf(response: Response): Promise<JsonPage['body']> {
  try {
    const body: unknown = await response.json();
    if (typeof body === 'object' && body !== null) return body as JsonPage['body'];
  } catch {
    // Half a page, or none.
  }
  throw new DirectoryFailed('the directory returned half a page');
}

/** Requests a token. Its form never reaches a log or an error. */
export async function requestToken(
  fetch: GuardedFetch,
  address: string,
  form: Readonly<Record<string, string>>,
): Promise<{ readonly token: string; readonly lifetimeMs: number }> {
  const response = await sent(fetch, new URL(address), {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
    body: new URLSearchParams(form).toString(),
  });
  if (!response || (await mayPass(response))) throw absence(response);
  if (response.status !== 200) throw new DirectoryFailed('the directory refuses the credentials', { isLasting: true });
  const body = (await jsonOf(response)) as { access_token?: unknown; expires_in?: unknown };
  if (typeof body.access_token !== 'string' || body.access_token === '')
    throw new DirectoryFailed('the directory returned no token');
  const seconds = Number(body.expires_in);
  return { token: body.access_token, lifetimeMs: (Number.isFinite(seconds) ? seconds : 300) * 1_000 };
}

/** Renews tokens this long before they expire. */
const MARGIN_MS = 60_000;

/** A bearer token that is requested when it is needed, and again before it expires. */
export function bearer(request: () => ReturnType<typeof requestToken>): Authorize {
  let held: { token: string; until: number } | undefined;
  return async (renew) => {
    if (renew || !held || Date.now() > held.until - MARGIN_MS) {
      const { token, lifetimeMs } = await request();
      held = { token, until: Date.now() + lifetimeMs };
    }
    return `Bearer ${held.token}`;
  };
}

/** The list in a page. A page without it is no page. */
export function listIn(body: unknown, name?: string): readonly Readonly<Record<string, unknown>>[] {
  const list = name === undefined ? body : (body as Record<string, unknown>)[name];
  if (!Array.isArray(list) || list.some((one) => typeof one !== 'object' || one === null))
    throw new DirectoryFailed('the directory returned half a page');
  return list as readonly Readonly<Record<string, unknown>>[];
}

export const stringIn = (item: unknown, name: string): string | null => {
  const value = typeof item === 'object' && item !== null ? (item as Record<string, unknown>)[name] : undefined;
  return typeof value === 'string' ? value : null;
};

/** The first `most` groups of a list that comes in pages. */
export async function firstGroups<Group>(pages: AsyncIterable<readonly Group[]>, most: number) {
  const groups: Group[] = [];
  for await (const items of pages) {
    const room = most - groups.length;
    groups.push(...items.slice(0, room));
    if (items.length > room) return { groups, isTruncated: true };
  }
  return { groups, isTruncated: false };
}
