import type { GuardedFetch } from '../../../platform/outbound/guarded-fetch.ts';
import { boundedPerson, tidyText } from '../person-fields.ts';
import {
  COMPLETE,
  DirectoryFailed,
  listedPage,
  type DirectoryGroup,
  type DirectoryMembership,
  type DirectoryPerson,
  type DirectoryReader,
  type Listed,
  type ListedMembers,
} from '../domain/directory-reader.ts';
import { DirectoryHttp, firstGroups, listIn, stringIn } from './directory-http.ts';
import { membersUnlessWithheld, namesByAsking } from '../withheld-groups.ts';

export interface OktaSource {
  /** Without a trailing slash. */
  readonly orgUrl: string;
  readonly apiToken: string;
}

/** People in these states may sign in, or must only choose a new password first. */
const ACTIVE = new Set(['ACTIVE', 'PASSWORD_EXPIRED', 'LOCKED_OUT', 'RECOVERY']);

/** Okta's API with a token of an administrator. */
export class OktaReader implements DirectoryReader {
  readonly #base: string;
  readonly #http: () => DirectoryHttp;

  constructor({ orgUrl, apiToken }: OktaSource, fetch: GuardedFetch, callTimeoutMs?: number) {
    this.#base = `${orgUrl}/api/v1`;
    const authorize = async () => `SSWS ${apiToken}`;
    this.#http = () => new DirectoryHttp({ fetch, origin: new URL(orgUrl).origin, authorize, callTimeoutMs });
  }

  async test(): Promise<void> {
    listIn((await this.#http().get(`${this.#base}/users?limit=1`)).body);
  }

  groups(most: number) {
    return firstGroups(this.#groupPages(), most);
  }

  groupNames(groupIds: readonly string[]) {
    return namesByAsking(groupIds, async (groupId) => {
      const found = await this.#http().find(`${this.#base}/groups/${encodeURIComponent(groupId)}`);
      return found && groupOf(found.body as Readonly<Record<string, unknown>>);
    });
  }

  async *people(): AsyncGenerator<Listed<DirectoryPerson>> {
    for await (const items of pagesOf(this.#http(), `${this.#base}/users?limit=200`))
      yield listedPage(items.map(personOf));
    yield COMPLETE;
  }

  async *memberships(groupIds: readonly string[]): AsyncGenerator<ListedMembers> {
    for (const groupId of groupIds) yield* membersUnlessWithheld(groupId, this.#membersOf(groupId));
    yield COMPLETE;
  }

  async *#membersOf(groupId: string): AsyncGenerator<readonly DirectoryMembership[]> {
    const start = `${this.#base}/groups/${encodeURIComponent(groupId)}/users?limit=200`;
    for await (const items of pagesOf(this.#http(), start))
      yield items.map((item) => ({ groupId, memberKey: idOf(item, 'person') }));
  }

  async close(): Promise<void> {
    // Nothing stays open.
  }

  async *#groupPages(): AsyncGenerator<readonly DirectoryGroup[]> {
    for await (const items of pagesOf(this.#http(), `${this.#base}/groups?limit=200`)) yield items.map(groupOf);
  }
}

async function* pagesOf(http: DirectoryHttp, start: string) {
  for (let next: string | null = start; next !== null;) {
    const { body, headers } = await http.nextPage(next);
    yield listIn(body);
    next = nextLink(headers.get('link'));
  }
}

/** The link with the relation `next` (RFC 8288), or null at the end of the list. */
export function nextLink(header: string | null): string | null {
  for (const [, address, parameters] of (header ?? '').matchAll(/<([^>]*)>((?:\s*;[^,<]*)*)/g)) {
    if (/;\s*rel\s*=\s*"?next"?\s*(?:;|$)/i.test(parameters!)) return address!;
  }
  return null;
}

function idOf(item: unknown, what: string): string {
  const id = stringIn(item, 'id');
  if (id === null) throw new DirectoryFailed(`the directory lists a ${what} without an id`);
  return id;
}

function personOf(item: Readonly<Record<string, unknown>>): DirectoryPerson {
  const id = idOf(item, 'person');
  const { profile } = item;
  const names = [stringIn(profile, 'firstName'), stringIn(profile, 'lastName')].filter((part) => part !== null);
  return boundedPerson({
    externalId: id,
    memberKey: id,
    userName: stringIn(profile, 'login'),
    email: stringIn(profile, 'email'),
    displayName: stringIn(profile, 'displayName') ?? names.join(' '),
    department: stringIn(profile, 'department'),
    jobTitle: stringIn(profile, 'title'),
    isActive: ACTIVE.has(stringIn(item, 'status') ?? ''),
    upn: null,
    sid: null,
  });
}

const groupOf = (item: Readonly<Record<string, unknown>>): DirectoryGroup => {
  const externalId = idOf(item, 'group');
  return { externalId, name: tidyText(stringIn(item['profile'], 'name')) ?? externalId, memberCount: null };
};
