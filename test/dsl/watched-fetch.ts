import { parsed } from './http-client.ts';
import { checkPromise } from './promises.ts';

const watched = new Set<string>();
const plain = globalThis.fetch;

/**
 * Also compares with the API description what a test of this address gets by `fetch` itself, as for uploads. Returns `close`,
 * which ends that.
 */
export function watchedUntil(url: string, close: () => Promise<void>): () => Promise<void> {
  if (url === '') return close;
  const { origin } = new URL(url);
  watched.add(origin);
  globalThis.fetch = watching;
  return () => {
    watched.delete(origin);
    return close();
  };
}

const watching: typeof fetch = async (input, init) => {
  const response = await plain(input, init);
  const { origin, pathname } = new URL(input instanceof Request ? input.url : String(input));
  if (!watched.has(origin)) return response;
  const method = init?.method ?? (input instanceof Request ? input.method : 'GET');
  // Only errors are read: a success may be a stream without end.
  const body = response.status >= 400 ? parsed(await response.clone().text()) : undefined;
  if (method !== 'OPTIONS')
    checkPromise(method, pathname, { status: response.status, headers: response.headers, body });
  return response;
};
