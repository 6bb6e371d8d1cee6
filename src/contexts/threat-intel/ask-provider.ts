import type { z } from 'zod';
import { OutboundRefused, type GuardedFetch } from '../../platform/outbound/guarded-fetch.ts';
import { ProviderFailed } from './provider.ts';

/** An answer that a service gives to one GET; undefined for 404. Redirects are refused: the key goes to the configured address alone. */
export async function askProvider<Schema extends z.ZodType>(
  fetch: GuardedFetch,
  address: URL,
  headers: Readonly<Record<string, string>>,
  schema: Schema,
): Promise<z.output<Schema> | undefined> {
  const answer = await fetch(address, { headers: { accept: 'application/json', ...headers } }).catch(
    (error: unknown) => {
      throw new ProviderFailed(error instanceof OutboundRefused ? error.message : 'the service cannot be reached');
    },
  );
  if (answer.status === 404) return undefined;
  if (answer.status === 401 || answer.status === 403) throw new ProviderFailed('the service refused the API key');
  if (answer.status === 429) throw new ProviderFailed('the service says that its limit is reached');
  if (answer.status !== 200) throw new ProviderFailed(`the service answered ${answer.status}`);
  const read = schema.safeParse(await answer.json().catch(() => undefined));
  if (!read.success) throw new ProviderFailed('the service answered what cannot be read');
  return read.data;
}

/** The address below the configured one, which may have a path of its own. */
export const addressBelow = (base: string, path: string): URL => new URL(path, base.endsWith('/') ? base : `${base}/`);
