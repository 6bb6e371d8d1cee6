import { importPKCS8, SignJWT } from 'jose';
import type { GuardedFetch } from '../../../platform/outbound/guarded-fetch.ts';
import type { GoogleServiceAccount } from '../domain/google-service-account.ts';
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

export interface GoogleSource {
  readonly domain: string;
  readonly adminEmail: string;
  readonly account: GoogleServiceAccount;
  /** Without a trailing slash. */
  readonly apiUrl: string;
}

const SCOPES = [
  'https://www.googleapis.com/auth/admin.directory.user.readonly',
  'https://www.googleapis.com/auth/admin.directory.group.readonly',
  'https://www.googleapis.com/auth/admin.directory.group.member.readonly',
].join(' ');

const PERSON_FIELDS =
  'nextPageToken,users(id,primaryEmail,name/fullName,suspended,archived,organizations(department,title,primary))';

/** Google Workspace: Admin SDK, Directory API, as a service account with domain-wide delegation. */
export class GoogleReader implements DirectoryReader {
  readonly #source: GoogleSource;
  readonly #base: string;
  readonly #http: () => DirectoryHttp;

  constructor(source: GoogleSource, fetch: GuardedFetch, callTimeoutMs?: number) {
    this.#source = source;
    this.#base = `${source.apiUrl}/admin/directory/v1`;
    const authorize = bearer(async () =>
      requestToken(fetch, source.account.tokenUri, {
        grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
        assertion: await assertionOf(source),
      }),
    );
    this.#http = () => new DirectoryHttp({ fetch, origin: new URL(source.apiUrl).origin, authorize, callTimeoutMs });
  }

  async test(): Promise<void> {
    await this.#http().get(this.#list('users', { maxResults: '1' }));
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
    const start = this.#list('users', { maxResults: '500', projection: 'full', fields: PERSON_FIELDS });
    for await (const items of pagesOf(this.#http(), start, 'users')) yield listedPage(items.map(personOf));
    yield COMPLETE;
  }

  async *memberships(groupIds: readonly string[]): AsyncGenerator<ListedMembers> {
    for (const groupId of groupIds) yield* membersUnlessWithheld(groupId, this.#membersOf(groupId));
    yield COMPLETE;
  }

  async *#membersOf(groupId: string): AsyncGenerator<readonly DirectoryMembership[]> {
    const start = `${this.#base}/groups/${encodeURIComponent(groupId)}/members?includeDerivedMembership=true&maxResults=200`;
    for await (const items of pagesOf(this.#http(), start, 'members')) {
      const people = items.filter((item) => item['type'] === 'USER' && typeof item['id'] === 'string');
      yield people.map((item) => ({ groupId, memberKey: item['id'] as string }));
    }
  }

  async close(): Promise<void> {
    // Nothing stays open.
  }

  async *#groupPages(): AsyncGenerator<readonly DirectoryGroup[]> {
    for await (const items of pagesOf(this.#http(), this.#list('groups', { maxResults: '200' }), 'groups'))
      yield items.map(groupOf);
  }

  #list(what: string, parameters: Readonly<Record<string, string>>): string {
    return `${this.#base}/${what}?${new URLSearchParams({ domain: this.#source.domain, ...parameters }).toString()}`;
  }
}

/** A page without the list has no items: Google leaves empty lists out. */
async function* pagesOf(http: DirectoryHttp, start: string, list: string) {
  for (let token: string | null = ''; token !== null;) {
    const address = token === '' ? start : `${start}&pageToken=${encodeURIComponent(token)}`;
    const { body } = await http.nextPage(address);
    yield list in body ? listIn(body, list) : [];
    token = stringIn(body, 'nextPageToken');
  }
}

async function assertionOf({ account, adminEmail }: GoogleSource): Promise<string> {
  const key = await importPKCS8(account.privateKey, 'RS256').catch((error: unknown) => {
    throw new DirectoryFailed('the service account has no usable private key', { isLasting: true, cause: error });
  });
  return new SignJWT({ scope: SCOPES })
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...(account.keyId === null ? {} : { kid: account.keyId }) })
    .setIssuer(account.clientEmail)
    .setSubject(adminEmail)
    .setAudience(account.tokenUri)
    .setIssuedAt()
    .setExpirationTime('10m')
    .sign(key);
}

function personOf(item: Readonly<Record<string, unknown>>): DirectoryPerson {
  const id = stringIn(item, 'id');
  const email = stringIn(item, 'primaryEmail');
  const organizations = Array.isArray(item['organizations']) ? (item['organizations'] as unknown[]) : [];
  const organization =
    organizations.find((one) => (one as { primary?: unknown } | null)?.primary === true) ?? organizations[0];
  return boundedPerson({
    externalId: id,
    memberKey: id,
    userName: email,
    email,
    displayName: stringIn(item['name'], 'fullName'),
    department: stringIn(organization, 'department'),
    jobTitle: stringIn(organization, 'title'),
    isActive: item['suspended'] !== true && item['archived'] !== true,
    upn: null,
    sid: null,
  });
}

function groupOf(item: Readonly<Record<string, unknown>>): DirectoryGroup {
  const externalId = stringIn(item, 'id');
  if (externalId === null) throw new DirectoryFailed('the directory lists a group without an id');
  const count = Number(item['directMembersCount']);
  return {
    externalId,
    name: tidyText(stringIn(item, 'name')) ?? externalId,
    memberCount: Number.isSafeInteger(count) && item['directMembersCount'] !== undefined ? count : null,
  };
}
