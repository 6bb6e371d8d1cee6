import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { activeDirectory } from '../../../src/contexts/directory-sources/ldap/ldap-dialect.ts';
import { LdapReader, type LdapSource } from '../../../src/contexts/directory-sources/ldap/ldap-reader.ts';
import { guardedConnect } from '../../../src/platform/outbound/guarded-connection.ts';
import { listed } from '../../contracts/directory-reader.contract.ts';
import { AD_BASE, AD_PASSWORD, hasSamba, startSamba } from '../../dsl/samba.ts';

const GUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

describe.skipIf(!hasSamba())('Samba as an Active Directory domain controller', () => {
  let samba: Awaited<ReturnType<typeof startSamba>>;
  beforeAll(async () => {
    samba = await startSamba();
    const user = (name: string, ...more: string[]) =>
      samba.tool('user', 'create', name, AD_PASSWORD, `--mail-address=${name}@acme.example`, ...more);
    user('alice', '--given-name=Alice', '--surname=Ünal', '--department=Sales', '--job-title=Clerk');
    user('bob');
    samba.tool('user', 'create', 'carol', AD_PASSWORD);
    samba.tool('user', 'disable', 'bob');
    for (const group of ['Sales', 'Everybody']) samba.tool('group', 'add', group);
    samba.tool('group', 'addmembers', 'Sales', 'alice,bob');
    samba.tool('group', 'addmembers', 'Everybody', 'Sales,carol');
    samba.tool('group', 'addmembers', 'Sales', 'Everybody');
  }, 120_000);
  afterAll(() => samba?.stop());

  const open = (over: Partial<LdapSource> = {}) =>
    new LdapReader(
      {
        host: 'dc.corp.acme.example',
        port: 636,
        useTls: true,
        startTls: false,
        caCertificate: samba.ca(),
        baseDn: AD_BASE,
        bindDn: 'Administrator@corp.acme.example',
        bindPassword: AD_PASSWORD,
        userFilter: null,
        groupFilter: null,
        ...over,
      },
      activeDirectory,
      guardedConnect({
        allowPrivate: true,
        resolve: (_name, _options, done) => done(null, [{ address: samba.host, family: 4 }]),
      }),
    );
  const using = async <T>(work: (reader: LdapReader) => Promise<T>, over: Partial<LdapSource> = {}): Promise<T> => {
    const reader = open(over);
    try {
      return await work(reader);
    } finally {
      await reader.close();
    }
  };

  it('is tested over LDAPS and over StartTLS', async () => {
    await using((reader) => reader.test());
    await using((reader) => reader.test(), { port: 389, startTls: true });
    await expect(using((reader) => reader.test(), { bindPassword: 'wrong' })).rejects.toThrow(
      'the directory refuses the credentials',
    );
  });

  it('lists accounts with their ids, names and states', async () => {
    const { items, isComplete } = await using((reader) => listed(reader.people()));
    const of = (name: string) => items.find(({ upn }) => upn?.startsWith(`${name}@`));
    expect(isComplete).toBe(true);
    expect(of('alice')).toMatchObject({
      externalId: expect.stringMatching(GUID) as string,
      sid: expect.stringMatching(/^S-1-5-21-\d+-\d+-\d+-\d+$/) as string,
      upn: 'alice@corp.acme.example',
      email: 'alice@acme.example',
      displayName: 'Alice Ünal',
      department: 'Sales',
      jobTitle: 'Clerk',
      isActive: true,
    });
    expect(of('bob')).toMatchObject({ isActive: false });
    expect(of('carol')).toMatchObject({ email: 'carol@corp.acme.example' });
    expect(new Set(items.map(({ externalId }) => externalId)).size).toBe(items.length);
  });

  it('lists everybody in their primary group, which has no list of them, also within another group', async () => {
    samba.tool('group', 'add', 'Staff');
    samba.tool('group', 'addmembers', 'Staff', 'Domain Users');
    await using(async (reader) => {
      const { groups } = await reader.groups(1_000);
      const { items: people } = await listed(reader.people());
      for (const wanted of ['Domain Users', 'Staff']) {
        const { externalId } = groups.find(({ name }) => name === wanted)!;
        const { items } = await listed(reader.memberships([externalId]));
        const names = items.map(
          ({ memberKey }) => people.find((one) => one.memberKey === memberKey)?.upn?.split('@')[0],
        );
        expect(names).toEqual(expect.arrayContaining(['alice', 'bob', 'carol']));
      }
    });
  });

  it('lists members of nested groups, also where groups contain each other', async () => {
    await using(async (reader) => {
      const { groups } = await reader.groups(1_000);
      const everybody = groups.find(({ name }) => name === 'Everybody')!;
      const { items: people } = await listed(reader.people());
      const { items, isComplete } = await listed(reader.memberships([everybody.externalId]));
      const names = items.map(({ memberKey }) => people.find((one) => one.memberKey === memberKey)?.upn?.split('@')[0]);
      expect([names.sort(), isComplete]).toEqual([['alice', 'bob', 'carol'], true]);
    });
  });
});
