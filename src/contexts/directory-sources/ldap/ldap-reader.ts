import { FilterParser, PresenceFilter, type Filter } from 'ldapts';
import type { GuardedConnect } from '../../../platform/outbound/guarded-connection.ts';
import { tidyText } from '../person-fields.ts';
import {
  COMPLETE,
  DirectoryFailed,
  MAX_DIRECTORY_GROUPS,
  listedPage,
  type DirectoryGroup,
  type DirectoryMembership,
  type DirectoryPerson,
  type DirectoryReader,
  type Listed,
  type ListedMembers,
} from '../domain/directory-reader.ts';
import { connectToLdap, type LdapAddress } from './ldap-connection.ts';
import { dnKey, textOf, type LdapDialect } from './ldap-dialect.ts';
import { GroupMembers, type LdapGroup } from './group-members.ts';
import { membersUnlessWithheld } from '../withheld-groups.ts';
import { LdapSession, type LdapEntry, type LdapSearch } from './ldap-session.ts';

export interface LdapSource extends LdapAddress {
  readonly baseDn: string;
  readonly bindDn: string;
  readonly bindPassword: string;
  readonly userFilter: string | null;
  readonly groupFilter: string | null;
}

/** Reads an LDAP server. Referrals are never followed: they lead to servers that nobody chose. */
export class LdapReader implements DirectoryReader {
  readonly #source: LdapSource;
  readonly #dialect: LdapDialect;
  readonly #connect: GuardedConnect;
  #session: Promise<LdapSession> | undefined;

  constructor(source: LdapSource, dialect: LdapDialect, connect: GuardedConnect) {
    this.#source = source;
    this.#dialect = dialect;
    this.#connect = connect;
  }

  async test(): Promise<void> {
    const { userFilter, groupFilter } = this.#source;
    parsedFilter(userFilter ?? this.#dialect.userFilter, 'userFilter');
    parsedFilter(groupFilter ?? this.#dialect.groupFilter, 'groupFilter');
    const session = await this.#open();
    const base = { base: this.#source.baseDn, scope: 'base' as const, attributes: ['objectClass'] };
    for await (const found of session.search({ ...base, filter: new PresenceFilter({ attribute: 'objectClass' }) }))
      if (found.length > 0) return;
    throw new DirectoryFailed('the base DN does not exist', { isLasting: true });
  }

  async groups(most: number) {
    const groups: DirectoryGroup[] = [];
    for await (const entries of this.#groupEntries()) {
      for (const entry of entries) {
        if (groups.length === most) return { groups, isTruncated: true };
        groups.push({ externalId: this.#dialect.idOf(entry), name: nameOf(entry), memberCount: null });
      }
    }
    return { groups, isTruncated: false };
  }

  async groupNames(groupIds: readonly string[]) {
    const wanted = new Set(groupIds);
    const { groups, isTruncated } = await this.groups(MAX_DIRECTORY_GROUPS);
    if (isTruncated) throw new DirectoryFailed('the directory lists too many groups', { isLasting: true });
    const found = groups.filter(({ externalId }) => wanted.has(externalId));
    return { names: new Map(found.map((one) => [one.externalId, one.name])), withheld: [] };
  }

  async *people(): AsyncGenerator<Listed<DirectoryPerson>> {
    const session = await this.#open();
    const { personAttributes, person } = this.#dialect;
    for await (const entries of session.search({ ...this.#everybody(), attributes: personAttributes }))
      yield listedPage(entries.map(person));
    yield COMPLETE;
  }

  async *memberships(groupIds: readonly string[]): AsyncGenerator<ListedMembers> {
    const byId = new Map<string, LdapGroup>();
    const byDn = new Map<string, LdapGroup>();
    for await (const entries of this.#groupEntries()) {
      for (const entry of entries) {
        if (byDn.size >= MAX_DIRECTORY_GROUPS) throw new DirectoryFailed('the directory lists too many groups');
        const group = { dn: entry.dn, unlistedMembers: this.#dialect.unlistedMembers(entry) };
        byDn.set(dnKey(entry.dn), group);
        byId.set(this.#dialect.idOf(entry), group);
      }
    }
    const members = new GroupMembers(await this.#open(), byDn, this.#everybody());
    for (const groupId of groupIds) {
      const group = byId.get(groupId);
      if (!group) continue;
      yield* membersUnlessWithheld(groupId, membershipsIn(groupId, members.of(group)));
    }
    yield COMPLETE;
  }

  async close(): Promise<void> {
    const session = await this.#session?.catch(() => undefined);
    session?.close();
  }

  #everybody(): Pick<LdapSearch, 'base' | 'filter'> {
    const filter = parsedFilter(this.#source.userFilter ?? this.#dialect.userFilter, 'userFilter');
    return { base: this.#source.baseDn, filter };
  }

  /** Each group once. */
  async *#groupEntries(): AsyncGenerator<readonly LdapEntry[]> {
    const session = await this.#open();
    const { groupFilter, idAttribute, groupAttributes } = this.#dialect;
    const filter = parsedFilter(this.#source.groupFilter ?? groupFilter, 'groupFilter');
    const attributes = ['cn', idAttribute, ...groupAttributes];
    const seen = new Set<string>();
    for await (const entries of session.search({ base: this.#source.baseDn, filter, attributes })) {
      const others = entries.filter(({ dn }) => !seen.has(dnKey(dn)));
      if (others.length === 0 && entries.length > 0) throw new DirectoryFailed('the directory repeats a page');
      for (const { dn } of others) seen.add(dnKey(dn));
      yield others;
    }
  }

  #open(): Promise<LdapSession> {
    return (this.#session ??= this.#openOnce());
  }

  async #openOnce(): Promise<LdapSession> {
    const { bindDn, bindPassword } = this.#source;
    const session = new LdapSession(await connectToLdap(this.#source, this.#connect));
    try {
      await session.bind(bindDn, bindPassword);
      return session;
    } catch (error) {
      session.close();
      throw error;
    }
  }
}

async function* membershipsIn(
  groupId: string,
  pages: AsyncIterable<readonly string[]>,
): AsyncGenerator<readonly DirectoryMembership[]> {
  for await (const keys of pages) yield keys.map((memberKey) => ({ groupId, memberKey }));
}

const nameOf = (entry: LdapEntry): string => tidyText(textOf(entry, 'cn')) ?? tidyText(entry.dn) ?? 'group';

export function parsedFilter(text: string, field: string): Filter {
  try {
    return FilterParser.parseString(text);
  } catch (error) {
    throw new DirectoryFailed(`${field} is not an LDAP filter`, { isLasting: true, cause: error });
  }
}
