import { describe, expect, it, beforeAll, afterAll } from 'vitest';
import { openLdap } from '../../../src/contexts/directory-sources/ldap/ldap-dialect.ts';
import { LdapReader, type LdapSource } from '../../../src/contexts/directory-sources/ldap/ldap-reader.ts';
import { guardedConnect } from '../../../src/platform/outbound/guarded-connection.ts';
import { directoryReaderContract, listed } from '../../contracts/directory-reader.contract.ts';
import {
  groupDn,
  groupLdif,
  hasSlapd,
  LDAP_ADMIN,
  LDAP_BASE,
  LDAP_PASSWORD,
  personDn,
  personLdif,
  startSlapd,
  type Slapd,
} from '../../dsl/slapd.ts';
import type { PeerContent } from '../../dsl/directory-peers.ts';

const connect = guardedConnect({ allowPrivate: true });

const base64 = (text: string): string => Buffer.from(text).toString('base64');

const ldifOf = ({ people, groups }: PeerContent): string => {
  const uidOf = (id: string) => id.replace('id-', 'u');
  const dnOf = (id: string) => (groups.some((one) => one.id === id) ? groupDn(id) : personDn(uidOf(id)));
  const users = people.map((one) =>
    personLdif(uidOf(one.id), {
      'cn:': base64(one.name),
      mail: one.email,
      'displayName:': base64(one.name),
      'departmentNumber:': base64(one.department),
      title: one.title,
    }).replace(/^cn: u\d+\n/m, ''),
  );
  return users.join('') + groups.map((one) => groupLdif(one.id, one.members.map(dnOf))).join('');
};

const sourceOf = (slapd: Slapd, over: Partial<LdapSource> = {}): LdapSource => ({
  host: slapd.host,
  port: slapd.tlsPort,
  useTls: true,
  startTls: false,
  caCertificate: slapd.ca,
  baseDn: LDAP_BASE,
  bindDn: LDAP_ADMIN,
  bindPassword: LDAP_PASSWORD,
  userFilter: null,
  groupFilter: null,
  ...over,
});

describe.skipIf(!hasSlapd())('OpenLDAP', () => {
  for (const [way, over] of [
    ['over LDAPS', (): Partial<LdapSource> => ({})],
    ['over StartTLS', (slapd: Slapd): Partial<LdapSource> => ({ port: slapd.port, startTls: true })],
  ] as const)
    directoryReaderContract(`OpenLDAP ${way}`, { nests: true }, async (content) => {
      const slapd = await startSlapd(ldifOf(content));
      return {
        open: (bindPassword = LDAP_PASSWORD) =>
          new LdapReader(sourceOf(slapd, { ...over(slapd), bindPassword }), openLdap, connect),
        groupId: async (id) => {
          const reader = new LdapReader(sourceOf(slapd), openLdap, connect);
          const { groups } = await reader.groups(100);
          await reader.close();
          return groups.find((one) => one.name.toLowerCase() === id)!.externalId;
        },
        close: () => slapd.stop(),
      };
    });

  describe('a server with people', () => {
    let slapd: Slapd;
    beforeAll(async () => {
      slapd = await startSlapd(
        Array.from({ length: 1_700 }, (_, n) => personLdif(`u${n}`, { mail: `u${n}@acme.example` })).join(''),
      );
    });
    afterAll(() => slapd.stop());
    const read = async (over: Partial<LdapSource>) => {
      const reader = new LdapReader(sourceOf(slapd, over), openLdap, connect);
      try {
        return await listed(reader.people());
      } finally {
        await reader.close();
      }
    };

    it('is read beyond the size limit of a search, in pages', async () => {
      const { items, isComplete } = await read({});
      expect([items.length, isComplete]).toEqual([1_700, true]);
    });

    it('is read by the filter of the source', async () => {
      expect((await read({ userFilter: '(&(objectClass=inetOrgPerson)(uid=u1*))' })).items.length).toBe(811);
    });

    it('is not trusted without its authority, by either way', async () => {
      await expect(read({ caCertificate: null })).rejects.toThrow("the directory's certificate is not trusted");
      await expect(read({ caCertificate: null, port: slapd.port, startTls: true })).rejects.toThrow(
        "the directory's certificate is not trusted",
      );
    });

    it('is refused under a name that its certificate does not have', async () => {
      await expect(read({ host: 'localhost' })).rejects.toThrow("the directory's certificate is not trusted");
    });

    it('names a base that does not exist, and an unusable filter', async () => {
      await expect(read({ baseDn: 'dc=nowhere' })).rejects.toThrow('the base DN does not exist');
      await expect(read({ userFilter: '((' })).rejects.toMatchObject({
        message: 'userFilter is not an LDAP filter',
        isLasting: true,
      });
    });

    it('is not called at a private address that nobody allowed', async () => {
      const reader = new LdapReader(sourceOf(slapd), openLdap, guardedConnect({ allowPrivate: false }));
      await expect(reader.test()).rejects.toMatchObject({ message: 'the address is not public', isLasting: true });
    });
  });
});
