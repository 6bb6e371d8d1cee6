import { expect } from 'vitest';
import type { TestResponse, Client } from './app.ts';

/** A browser under way to a provider: where it was sent, and the cookies that it was given. */
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

/** Asks for a sign-in and is sent away. */
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

/** Comes back with what the provider put into the address. */
export const returnsFromProvider = (
  client: Client,
  callback: string,
  query: URLSearchParams | Record<string, string>,
  cookie: string,
): Promise<TestResponse> =>
  client.get(`${callback}?${new URLSearchParams(query).toString()}`, { headers: cookie ? { cookie } : {} });
