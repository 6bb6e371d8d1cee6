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
import { bearer, DirectoryHttp, firstGroups, listIn, requestToken, stringIn } from './directory-http.ts';
import { membersUnlessWithheld, namesByAsking } from '../withheld-groups.ts';

export interface EntraSource {
  readonly directoryId: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Without a trailing slash. National clouds have others. */
  readonly loginUrl: string;
  readonly graphUrl: string;
}

const PERSON = 'id,userPrincipalName,mail,displayName,department,jobTitle,accountEnabled,onPremisesSecurityIdentifier';
type Item = Readonly<Record<string, unknown>>;

const isWhole = (item: Item): boolean =>
  typeof item['accountEnabled'] === 'boolean' && stringIn(item, 'userPrincipalName') !== null;

const MAX_PAGE = { prefer: 'odata.maxpagesize=999' };

/** Microsoft Graph 1.0, as an application (client credentials) with User.Read.All and Group.Read.All. */
export class EntraReader implements DirectoryReader {
  readonly #base: string;
  readonly #http: () => DirectoryHttp;

  constructor(source: EntraSource, fetch: GuardedFetch, callTimeoutMs?: number) {
    const { directoryId, clientId, clientSecret, loginUrl, graphUrl } = source;
    this.#base = `${graphUrl}/v1.0`;
    const authorize = bearer(() =>
      requestToken(fetch, `${loginUrl}/${encodeURIComponent(directoryId)}/oauth2/v2.0/token`, {
        grant_type: 'client_credentials',
        client_id: clientId,
        client_secret: clientSecret,
        scope: `${graphUrl}/.default`,
      }),
    );
    this.#http = () => new DirectoryHttp({ fetch, origin: new URL(graphUrl).origin, authorize, callTimeoutMs });
  }

  async test(): Promise<void> {
    listIn((await this.#http().get(`${this.#base}/users?$select=id&$top=1`)).body, 'value');
  }

  groups(most: number) {
    return firstGroups(this.#groupPages(), most);
  }

  groupNames(groupIds: readonly string[]) {
    return namesByAsking(groupIds, async (groupId) => {
      const found = await this.#http().find(
        `${this.#base}/groups/${encodeURIComponent(groupId)}?$select=id,displayName`,
      );
      return found && groupOf(found.body)[0];
    });
  }

  /**
   * A delta query from the beginning. Unlike a plain list, it says where it ends (`@odata.deltaLink`), so a list that
   * ends early is noticed.
   */
  async *people(): AsyncGenerator<Listed<DirectoryPerson>> {
    const http = this.#http();
    let next = `${this.#base}/users/delta?$select=${PERSON}`;
    for (;;) {
      const { body } = await http.nextPage(next, MAX_PAGE);
      yield await this.#peopleIn(listIn(body, 'value'));
      if (stringIn(body, '@odata.deltaLink') !== null) break;
      const link = stringIn(body, '@odata.nextLink');
      if (link === null) throw new DirectoryFailed('the directory ended its list early');
      next = link;
    }
    yield COMPLETE;
  }

  /** A person may be listed again on a later page, as removed or with what has changed alone. The last word counts. */
  async #peopleIn(items: readonly Item[]): Promise<Listed<DirectoryPerson>> {
    const last = new Map(items.map((item) => [stringIn(item, 'id'), item]));
    const people: DirectoryPerson[] = [];
    const gone: string[] = [];
    for (const [id, item] of last) {
      const whole = '@removed' in item ? undefined : await this.#whole(id, item);
      if (whole) people.push(personOf(whole));
      else if (id !== null) gone.push(id);
    }
    return listedPage(people, { gone });
  }

  /**
   * A delta query may leave out what has not changed. Undefined: the directory no longer has the person. Throws if it hides
   * whose account is enabled: nobody is taken for active, or for gone, because of that.
   */
  async #whole(id: string | null, item: Item): Promise<Item | undefined> {
    if (isWhole(item) || id === null) return item;
    const address = `${this.#base}/users/${encodeURIComponent(id)}?$select=${PERSON}`;
    const page = await this.#http().find(address);
    if (page === undefined) return undefined;
    if (isWhole(page.body as Item)) return page.body as Item;
    throw new DirectoryFailed('the directory does not say whose accounts are enabled', { isLasting: true });
  }

  async *memberships(groupIds: readonly string[]): AsyncGenerator<ListedMembers> {
    for (const groupId of groupIds) yield* membersUnlessWithheld(groupId, this.#membersOf(groupId));
    yield COMPLETE;
  }

  async *#membersOf(groupId: string): AsyncGenerator<readonly DirectoryMembership[]> {
    // Groups and devices among the members are nobody's id. A cast to users would make this an advanced query, which
    // reads from an index that lags behind.
    const start = `${this.#base}/groups/${encodeURIComponent(groupId)}/transitiveMembers?$select=id&$top=999`;
    for await (const items of pagesOf(this.#http(), start)) yield items.flatMap((item) => membershipOf(groupId, item));
  }

  async close(): Promise<void> {
    // Nothing stays open.
  }

  async *#groupPages(): AsyncGenerator<readonly DirectoryGroup[]> {
    for await (const items of pagesOf(this.#http(), `${this.#base}/groups?$select=id,displayName&$top=999`))
      yield items.flatMap((item) => groupOf(item));
  }
}

async function* pagesOf(http: DirectoryHttp, start: string) {
  for (let next: string | null = start; next !== null;) {
    const { body } = await http.nextPage(next);
    yield listIn(body, 'value');
    next = stringIn(body, '@odata.nextLink');
  }
}

function personOf(item: Item): DirectoryPerson {
  const id = stringIn(item, 'id');
  const upn = stringIn(item, 'userPrincipalName');
  return boundedPerson({
    externalId: id,
    memberKey: id,
    userName: upn,
    // Accounts without a mailbox have no `mail`.
    email: stringIn(item, 'mail') ?? upn,
    displayName: stringIn(item, 'displayName'),
    department: stringIn(item, 'department'),
    jobTitle: stringIn(item, 'jobTitle'),
    isActive: item['accountEnabled'] === true,
    upn,
    sid: stringIn(item, 'onPremisesSecurityIdentifier'),
  });
}

function groupOf(item: unknown): DirectoryGroup[] {
  const externalId = stringIn(item, 'id');
  if (externalId === null) throw new DirectoryFailed('the directory lists a group without an id');
  return [{ externalId, name: tidyText(stringIn(item, 'displayName')) ?? externalId, memberCount: null }];
}

function membershipOf(groupId: string, item: unknown): DirectoryMembership[] {
  const memberKey = stringIn(item, 'id');
  return memberKey === null ? [] : [{ groupId, memberKey }];
}
