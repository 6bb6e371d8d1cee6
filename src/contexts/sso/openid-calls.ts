import type { CustomFetch } from 'openid-client';
import { OutboundRefused, type GuardedFetch } from '../../platform/outbound/guarded-fetch.ts';

/** No response came. Everything else that the library throws is about a response. */
export class NotReached extends Error {}
/** A response came that is larger than the guard reads. */
export class TooLarge extends Error {}

const SIZE_CODES: ReadonlySet<unknown> = new Set(['UND_ERR_RES_EXCEEDED_MAX_SIZE', 'UND_ERR_HEADERS_OVERFLOW']);

/** The guarded fetch, whose failures can be told from those of the library. */
export const classified =
  (fetch: GuardedFetch): GuardedFetch =>
  async (address, request) => {
    try {
      return await fetch(address, request);
    } catch (error) {
      if (error instanceof OutboundRefused) throw error;
      if (SIZE_CODES.has((error as { code?: unknown }).code)) throw new TooLarge('too large', { cause: error });
      throw new NotReached('not reached', { cause: error });
    }
  };

/** Remembers the address of the last call: the library's errors do not say which one they are about. */
export function observed(fetch: GuardedFetch): { readonly fetch: GuardedFetch; lastAddress(): string | undefined } {
  let last: string | undefined;
  return {
    fetch: (address, request) => {
      last = String(address);
      return fetch(address, request);
    },
    lastAddress: () => last,
  };
}

/**
 * Makes the library use the guarded fetch: addresses that the guard blocks are not reached, and redirects are not
 * followed.
 */
export const guarded =
  (fetch: GuardedFetch): CustomFetch =>
  (address, { method, headers, body, signal }) =>
    classified(fetch)(address, {
      method: method as 'GET' | 'POST',
      headers,
      ...(body === undefined || body === null ? {} : { body: String(body) }),
      ...(signal ? { signal } : {}),
    });
