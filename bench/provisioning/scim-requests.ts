import type { HttpClient, HttpResponse } from '../http-client.ts';
import { randomUUID } from 'node:crypto';

const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
const PATCH = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
export const AT_ONCE = 8;

export interface Provisioned {
  readonly headers: Record<string, string>;
  readonly people: readonly { readonly id: string; readonly userName: string }[];
}

export const somePeople = (count: number): Provisioned['people'] =>
  Array.from({ length: count }, (_, at) => ({ id: randomUUID(), userName: `person-${at}@acme.example` }));

const expecting =
  (...wanted: number[]) =>
  ({ status, body }: HttpResponse): void => {
    if (!wanted.includes(status)) throw new Error(`${status} instead of ${wanted.join(' or ')}: ${body.slice(0, 300)}`);
  };

/** Both sides are sent the same requests, each by a client in its own process. */
export const creating = (client: HttpClient, headers: Record<string, string>) => async (): Promise<void> => {
  const body = JSON.stringify({ schemas: [USER], userName: `${randomUUID()}@acme.example`, active: true });
  expecting(201)(await client.send('POST', '/scim/v2/Users', headers, body));
};

export const finding =
  (client: HttpClient, { headers, people }: Provisioned) =>
  async (n: number): Promise<void> => {
    const { userName } = people[(n * 7_919) % people.length]!;
    const path = `/scim/v2/Users?filter=${encodeURIComponent(`userName eq "${userName}"`)}`;
    expecting(200)(await client.send('GET', path, headers));
  };

/** Adds one person after the other, from the `first` on. */
export function adding(client: HttpClient, { headers, people }: Provisioned, first: number) {
  let next = first;
  return (groupId: string) => async (): Promise<void> => {
    const { id } = people[next++ % people.length]!;
    const Operations = [{ op: 'add', path: 'members', value: [{ value: id }] }];
    const body = JSON.stringify({ schemas: [PATCH], Operations });
    expecting(200, 204)(await client.send('PATCH', `/scim/v2/Groups/${groupId}`, headers, body));
  };
}

/** One after the other; how long each took, in milliseconds. */
export async function timed(count: number, call: (n: number) => Promise<unknown>): Promise<number[]> {
  const took: number[] = [];
  for (let n = 0; n < count; n += 1) {
    const started = performance.now();
    await call(n);
    took.push(performance.now() - started);
  }
  return took;
}
