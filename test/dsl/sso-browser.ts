import { expect } from 'vitest';
import type { TestResponse, Client } from './app.ts';

/** A browser on its way to a provider: its redirect address, and its cookies. */
export interface StartedBrowserSignIn {
  readonly address: URL;
  readonly state: string;
  readonly nonce: string;
  readonly cookie: string;
}

export const cookiesOf = ({ headers }: TestResponse): string =>
  headers
    .getSetCookie()
    .map((set) => set.split(';')[0]!)
    .join('; ');

/** Requests a sign-in and gets the redirect. */
export async function startsSignIn(client: Client, path: string): Promise<StartedBrowserSignIn> {
  const answer = await client.get(path);
  expect([answer.status, answer.text]).toEqual([302, '']);
  const address = new URL(answer.headers.get('location')!);
  return {
    address,
    state: address.searchParams.get('state')!,
    nonce: address.searchParams.get('nonce')!,
    cookie: cookiesOf(answer),
  };
}

/** Returns with the parameters of the provider. */
export const returnsFromProvider = (
  client: Client,
  callback: string,
  query: URLSearchParams | Record<string, string>,
  cookie: string,
): Promise<TestResponse> =>
  client.get(`${callback}?${new URLSearchParams(query).toString()}`, { headers: cookie ? { cookie } : {} });
