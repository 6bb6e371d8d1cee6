import { AndFilter, PresenceFilter, type Filter } from 'ldapts';
import { DirectoryFailed, MAX_MEMBERSHIPS } from '../domain/directory-reader.ts';
import { dnKey } from './ldap-dialect.ts';
import type { LdapEntry, LdapSearch, LdapSession } from './ldap-session.ts';

const MEMBER_ATTRIBUTES = ['member', 'uniqueMember'];
const YIELDED_AT_ONCE = 1_000;
/** Active Directory returns long lists in parts: `member;range=0-1499`, and `…-*` for the last. */
const RANGE = /^(member|uniquemember);range=(\d+)-(\d+|\*)$/i;
const MAX_PARTS = 1_000;

export interface LdapGroup {
  readonly dn: string;
  /** Matches members whom the group does not list. */
  readonly unlistedMembers: Filter | undefined;
}

/** Members of groups, those of nested groups included. Groups that contain each other end the search, not the service. */
export class GroupMembers {
  readonly #session: LdapSession;
  /** All groups, by the key of their DN. */
  readonly #groups: ReadonlyMap<string, LdapGroup>;
  /** Where unlisted members are looked for. */
  readonly #people: Pick<LdapSearch, 'base' | 'filter'>;
  #count = 0;

  constructor(
    session: LdapSession,
    groups: ReadonlyMap<string, LdapGroup>,
    people: Pick<LdapSearch, 'base' | 'filter'>,
  ) {
    this.#session = session;
    this.#groups = groups;
    this.#people = people;
  }

  async *of(group: LdapGroup): AsyncGenerator<readonly string[]> {
    const seen = new Set<string>([dnKey(group.dn)]);
    const open = [group];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      for await (const values of this.#membersOf(next)) {
        const people: string[] = [];
        for (const value of values) {
          const key = dnKey(value);
          if (seen.has(key)) continue;
          seen.add(key);
          const nested = this.#groups.get(key);
          if (nested === undefined) people.push(key);
          else open.push(nested);
        }
        this.#count += people.length;
        if (this.#count > MAX_MEMBERSHIPS) throw new DirectoryFailed('the directory lists too many members');
        for (let at = 0; at < people.length; at += YIELDED_AT_ONCE) yield people.slice(at, at + YIELDED_AT_ONCE);
      }
    }
  }

  async *#membersOf({ dn, unlistedMembers }: LdapGroup): AsyncGenerator<readonly string[]> {
    yield* this.#valuesOf(dn);
    if (!unlistedMembers) return;
    const { base, filter } = this.#people;
    const both = new AndFilter({ filters: [filter, unlistedMembers] });
    for await (const entries of this.#session.search({ base, filter: both, attributes: ['cn'] }))
      yield entries.map((entry) => entry.dn);
  }

  /** All values, in the parts that the server chooses. */
  async *#valuesOf(dn: string): AsyncGenerator<readonly string[]> {
    let attributes: readonly string[] = MEMBER_ATTRIBUTES;
    for (let part = 0; part < MAX_PARTS; part += 1) {
      const entry = await this.#entry(dn, attributes);
      if (!entry) return;
      let next: string | undefined;
      for (const name of entry.names) {
        const range = RANGE.exec(name);
        if (!range && !MEMBER_ATTRIBUTES.some((one) => one.toLowerCase() === name)) continue;
        if (range && range[3] !== '*') next = `${range[1]};range=${Number(range[3]) + 1}-*`;
        yield entry.values(name).map((value) => value.toString('utf8'));
      }
      if (next === undefined) return;
      attributes = [next];
    }
    throw new DirectoryFailed('the directory lists too many members');
  }

  async #entry(dn: string, attributes: readonly string[]): Promise<LdapEntry | undefined> {
    const filter = new PresenceFilter({ attribute: 'objectClass' });
    for await (const [entry] of this.#session.search({ base: dn, scope: 'base', filter, attributes }))
      if (entry) return entry;
    return undefined;
  }
}
