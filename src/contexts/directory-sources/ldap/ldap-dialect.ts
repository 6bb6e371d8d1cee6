import { EqualityFilter, type Filter } from 'ldapts';
import { boundedPerson } from '../person-fields.ts';
import { DirectoryFailed, type DirectoryPerson } from '../domain/directory-reader.ts';
import { guidText, sidText } from './binary-ids.ts';
import type { LdapEntry } from './ldap-session.ts';

/** How a kind of LDAP server describes people and groups. */
export interface LdapDialect {
  readonly userFilter: string;
  readonly groupFilter: string;
  readonly personAttributes: readonly string[];
  readonly idAttribute: string;
  /** Attributes of a group, besides its name and its id. */
  readonly groupAttributes: readonly string[];
  idOf(entry: LdapEntry): string;
  /** Matches the members of this group whom the group itself does not list; undefined if it lists all. */
  unlistedMembers(group: LdapEntry): Filter | undefined;
  person(entry: LdapEntry): DirectoryPerson;
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** The first value as text; undefined if there is none, or if it is no text. */
export function textOf(entry: LdapEntry, ...attributes: readonly string[]): string | undefined {
  for (const attribute of attributes) {
    const [value] = entry.values(attribute);
    if (!value || value.length === 0) continue;
    try {
      return UTF8.decode(value);
    } catch {
      // Not UTF-8: as if it were absent.
    }
  }
  return undefined;
}

/**
 * DNs compare without regard to case and to spaces around separators. This is not the full normal form of RFC 4514; the
 * server that wrote both DNs spells them alike.
 */
export const dnKey = (dn: string): string => dn.toLowerCase().replaceAll(/\s*([,=+])\s*/g, '$1');

const NAMES = ['cn', 'displayName', 'mail', 'department', 'title'];

const missingId = () => new DirectoryFailed('the directory lists an entry without an id');

function idIn(entry: LdapEntry): string {
  const id = textOf(entry, 'entryUUID');
  if (id === undefined) throw missingId();
  return id.toLowerCase();
}

const openLdapPerson = (entry: LdapEntry): DirectoryPerson =>
  boundedPerson({
    externalId: idIn(entry),
    memberKey: dnKey(entry.dn),
    userName: textOf(entry, 'uid', 'mail', 'cn'),
    email: textOf(entry, 'mail'),
    displayName: textOf(entry, 'displayName', 'cn'),
    department: textOf(entry, 'departmentNumber', 'ou'),
    jobTitle: textOf(entry, 'title'),
    // OpenLDAP's password policy: a lasting lock.
    isActive: textOf(entry, 'pwdAccountLockedTime') !== '000001010000Z',
    upn: null,
    sid: null,
  });

/** Any LDAP server with RFC 2798 people and RFC 4530 ids. */
export const openLdap: LdapDialect = {
  userFilter: '(objectClass=inetOrgPerson)',
  groupFilter: '(|(objectClass=groupOfNames)(objectClass=groupOfUniqueNames))',
  personAttributes: [...NAMES, 'uid', 'departmentNumber', 'ou', 'entryUUID', 'pwdAccountLockedTime'],
  idAttribute: 'entryUUID',
  groupAttributes: [],
  idOf: idIn,
  unlistedMembers: () => undefined,
  person: openLdapPerson,
};

const ACCOUNT_DISABLED = 0x2;

/** The right to read it can be withdrawn. Then nobody would be disabled, and whoever left would stay active. */
function isEnabled(entry: LdapEntry): boolean {
  const flags = textOf(entry, 'userAccountControl');
  if (flags === undefined)
    throw new DirectoryFailed('the account may not read userAccountControl', { isLasting: true });
  return (Number(flags) & ACCOUNT_DISABLED) === 0;
}

function guidIn(entry: LdapEntry): string {
  const [bytes] = entry.values('objectGUID');
  const id = bytes && guidText(bytes);
  if (!id) throw missingId();
  return id;
}

function activeDirectoryPerson(entry: LdapEntry): DirectoryPerson {
  const upn = textOf(entry, 'userPrincipalName') ?? null;
  const [sid] = entry.values('objectSid');
  return boundedPerson({
    externalId: guidIn(entry),
    memberKey: dnKey(entry.dn),
    userName: upn ?? textOf(entry, 'sAMAccountName'),
    // Many accounts have no `mail`; a user principal name has the form of an address and is often the same.
    email: textOf(entry, 'mail') ?? upn,
    displayName: textOf(entry, 'displayName', 'cn'),
    department: textOf(entry, 'department'),
    jobTitle: textOf(entry, 'title'),
    isActive: isEnabled(entry),
    upn,
    sid: sid === undefined ? null : (sidText(sid) ?? null),
  });
}

/**
 * Everybody has a primary group, usually Domain Users. It is named in the member's entry only, by the last part of the
 * group's SID (MS-ADTS §3.1.1.1.4, `primaryGroupID`).
 */
function primaryMembers(group: LdapEntry): Filter | undefined {
  const [sid] = group.values('objectSid');
  const id = sid && sidText(sid)?.split('-').at(-1);
  return id === undefined ? undefined : new EqualityFilter({ attribute: 'primaryGroupID', value: id });
}

export const activeDirectory: LdapDialect = {
  // Contacts and computers are persons too, by their classes.
  userFilter: '(&(objectCategory=person)(objectClass=user))',
  groupFilter: '(objectCategory=group)',
  personAttributes: [...NAMES, 'sAMAccountName', 'userPrincipalName', 'userAccountControl', 'objectGUID', 'objectSid'],
  idAttribute: 'objectGUID',
  groupAttributes: ['objectSid'],
  idOf: guidIn,
  unlistedMembers: primaryMembers,
  person: activeDirectoryPerson,
};
