import type { z } from 'zod';
import { OutboundRefused, type GuardedFetch } from '../../platform/outbound/guarded-fetch.ts';
import { ProviderFailed } from './provider.ts';

/**
 * Sends one GET to a service and parses the response; undefined for 404. Redirects are refused: the key is sent only to
 * the configured address.
 */
export async function askProvider<Schema extends z.ZodType>(
  fetch: GuardedFetch,
  address: URL,
  headers: Readonly<Record<string, string>>,
  schema: Schema,
): Promise<z.output<Schema> | undefined> {
  const response = await fetch(address, { headers: { accept: 'application/json', ...headers } }).catch(
    (error: unknown) => {
      throw new ProviderFailed(error instanceof OutboundRefused ? error.message : 'the service cannot be reached');
    },
  );
  if (response.status === 404) return undefined;
  if (response.status === 401 || response.status === 403) throw new ProviderFailed('the service refused the API key');
  if (response.status === 429) throw new ProviderFailed('the service reports that its rate limit is reached');
  if (response.status !== 200) throw new ProviderFailed(`the service returned status ${response.status}`);
  const read = schema.safeParse(await response.json().catch(() => undefined));
  if (!read.success) throw new ProviderFailed('the service returned an unreadable response');
  return read.data;
}

/** Resolves a path below the configured address, which may have a path itself. */
export const addressBelow = (base: string, path: string): URL => new URL(path, base.endsWith('/') ? base : `${base}/`);
