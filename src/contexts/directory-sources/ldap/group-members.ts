import { PresenceFilter } from 'ldapts';
import { DirectoryFailed, MAX_MEMBERSHIPS } from '../domain/directory-reader.ts';
import { dnKey } from './ldap-dialect.ts';
import type { LdapEntry, LdapSession } from './ldap-session.ts';

const MEMBER_ATTRIBUTES = ['member', 'uniqueMember'];
const YIELDED_AT_ONCE = 1_000;
/** Active Directory returns long lists in parts: `member;range=0-1499`, and `…-*` for the last. */
const RANGE = /^(member|uniquemember);range=(\d+)-(\d+|\*)$/i;
const MAX_PARTS = 1_000;

/** Members of groups, those of nested groups included. Groups that contain each other end the search, not the service. */
export class GroupMembers {
  readonly #session: LdapSession;
  /** DNs of all groups, by key. */
  readonly #groups: ReadonlyMap<string, string>;
  #count = 0;

  constructor(session: LdapSession, groups: ReadonlyMap<string, string>) {
    this.#session = session;
    this.#groups = groups;
  }

  async *of(dn: string): AsyncGenerator<readonly string[]> {
    const seen = new Set<string>([dnKey(dn)]);
    const open = [dn];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      for await (const values of this.#valuesOf(next)) {
        const people: string[] = [];
        for (const value of values) {
          const key = dnKey(value);
          if (seen.has(key)) continue;
          seen.add(key);
          const group = this.#groups.get(key);
          if (group === undefined) people.push(key);
          else open.push(group);
        }
        this.#count += people.length;
        if (this.#count > MAX_MEMBERSHIPS) throw new DirectoryFailed('the directory lists too many members');
        for (let at = 0; at < people.length; at += YIELDED_AT_ONCE) yield people.slice(at, at + YIELDED_AT_ONCE);
      }
    }
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
    let found: LdapEntry | undefined;
    for await (const [entry] of this.#session.search({ base: dn, scope: 'base', filter, attributes })) found ??= entry;
    return found;
  }
}
