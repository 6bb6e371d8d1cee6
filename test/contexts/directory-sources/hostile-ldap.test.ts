import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { activeDirectory, openLdap } from '../../../src/contexts/directory-sources/ldap/ldap-dialect.ts';
import { LdapReader } from '../../../src/contexts/directory-sources/ldap/ldap-reader.ts';
import { guardedConnect } from '../../../src/platform/outbound/guarded-connection.ts';
import { done, entry, someone, startHostileLdap, type LdapBehaviour } from '../../dsl/hostile-ldap.ts';
import { listed } from '../../contracts/directory-reader.contract.ts';

describe('a hostile LDAP server', () => {
  let peer: Awaited<ReturnType<typeof startHostileLdap>>;
  beforeAll(async () => {
    peer = await startHostileLdap();
  });
  afterAll(() => peer.close());

  const read = (behaviour: LdapBehaviour) => using(behaviour, (reader) => listed(reader.people()));

  async function using<T>(
    behaviour: LdapBehaviour,
    work: (reader: LdapReader) => Promise<T>,
    dialect = openLdap,
  ): Promise<T> {
    peer.onSearch(behaviour);
    const { host, port } = peer;
    const reader = new LdapReader(
      {
        host,
        port,
        useTls: false,
        startTls: false,
        caCertificate: null,
        baseDn: 'dc=acme',
        bindDn: 'cn=reader',
        bindPassword: 'x',
        userFilter: null,
        groupFilter: null,
      },
      dialect,
      guardedConnect({ allowPrivate: true }),
    );
    try {
      return await work(reader);
    } finally {
      await reader.close();
    }
  }

  it('closes half-way', async () => {
    await expect(read(({ id }, socket) => socket.end(someone(id, 1)))).rejects.toThrow(
      'the directory closed the connection',
    );
    await expect(
      read(({ id }, socket) => {
        socket.write(someone(id, 1).subarray(0, 20), () => socket.destroy());
      }),
    ).rejects.toThrow(/closed the connection|was lost/);
  });

  it('closes between two pages, and is not read on without authentication', async () => {
    await expect(
      read(({ id, searches }, socket) => {
        if (searches > 0) return void socket.destroy();
        socket.write(Buffer.concat([someone(id, 1), done(id, 'more')]));
      }),
    ).rejects.toThrow(/closed the connection|was lost/);
  });

  it('sends an empty page in the middle: the list goes on behind it', async () => {
    const { items, isComplete } = await read(({ id, searches }, socket) => {
      const pages = [[someone(id, 1), done(id, 'a')], [done(id, 'b')], [someone(id, 2), done(id, '')]];
      socket.write(Buffer.concat(pages[searches]!));
    });
    expect([items.map(({ userName }) => userName), isComplete]).toEqual([['u1', 'u2'], true]);
  });

  describe('sends pages without end', () => {
    const unending =
      (...items: readonly ((id: number) => Buffer)[]): LdapBehaviour =>
      ({ id, searches }, socket) =>
        void socket.write(Buffer.concat([...items.map((item) => item(id)), done(id, `page-${searches}`)]));
    const group = (id: number) => someone(id, 1);

    it('empty ones', async () => {
      const reason = 'the directory sends empty pages without end';
      await expect(read(unending())).rejects.toThrow(reason);
      await expect(using(unending(), (reader) => reader.test())).rejects.toThrow(reason);
      await expect(using(unending(), (reader) => reader.groups(10))).rejects.toThrow(reason);
    });

    it('the same groups again and again', async () => {
      const reason = 'the directory repeats a page';
      await expect(using(unending(group), (reader) => reader.groups(10))).rejects.toThrow(reason);
      await expect(using(unending(group), (reader) => listed(reader.memberships(['g'])))).rejects.toThrow(reason);
    });

    it('in response to a search for one entry, whose first one is enough', async () => {
      await using(unending(group), (reader) => reader.test());
    });
  });

  it('leaves out the control that tells the end', async () => {
    await expect(
      read(({ id }, socket) => void socket.write(Buffer.concat([someone(id, 1), done(id, undefined)]))),
    ).rejects.toThrow('the directory does not list in pages');
  });

  it('ends the list with an error, also after entries', async () => {
    await expect(
      read(({ id }, socket) => void socket.write(Buffer.concat([someone(id, 1), done(id, '', 4)]))),
    ).rejects.toThrow('the directory refuses the search (LDAP result 4)');
  });

  it('forbids to read the members of one group: the others are read', async () => {
    const { items, withheld } = await using(
      ({ id, searches }, socket) => {
        const groups = [someone(id, 1), someone(id, 2)];
        const members = entry(id, 'uid=u2,dc=acme', { member: ['uid=u7,dc=acme'] });
        const reply = [[...groups, done(id, '')], [done(id, '', 50)], [members, done(id, '')]][searches];
        socket.write(Buffer.concat(reply!));
      },
      (reader) => listed(reader.memberships([1, 2].map((n) => `00000000-0000-4000-8000-00000000000${n}`))),
    );
    expect(items).toEqual([{ groupId: '00000000-0000-4000-8000-000000000002', memberKey: 'uid=u7,dc=acme' }]);
    expect(withheld).toEqual(['00000000-0000-4000-8000-000000000001']);
  });

  it('sends 100,000 entries in one page', async () => {
    await expect(
      read(({ id }, socket) => {
        const one = someone(id, 1);
        const many = Buffer.concat(Array.from({ length: 10_000 }, () => one));
        for (let part = 0; part < 10; part += 1) socket.write(many);
        socket.write(done(id, ''));
      }),
    ).rejects.toThrow('the directory sent more than was asked for');
  });

  it('sends 100,000 tiny messages that belong to nothing', async () => {
    await expect(
      read((_request, socket) => void socket.write(Buffer.alloc(700_000, Buffer.from('30050201636500', 'hex')))),
    ).rejects.toThrow('the directory sent more than was asked for');
  });

  it('announces a message of two gigabytes', async () => {
    await expect(read((_request, socket) => void socket.write(Buffer.from('30847fffffff0201', 'hex')))).rejects.toThrow(
      'the server sent too large a message',
    );
  });

  it('speaks another protocol, or none', async () => {
    await expect(read((_request, socket) => void socket.write('HTTP/1.1 200 OK\r\n\r\n'))).rejects.toThrow(
      'the server does not speak LDAP',
    );
    await expect(read((_request, socket) => void socket.write(Buffer.from('3080', 'hex')))).rejects.toThrow(
      'the server sent a malformed message',
    );
  });

  it('sends hostile values: they are bounded, and none becomes another person', async () => {
    const { items } = await read(({ id }, socket) => {
      socket.write(
        Buffer.concat([
          someone(id, 1, { cn: ['x'.repeat(100_000)], mail: ['a@b\u0000.example'], title: ['line\nfeed\u0007'] }),
          someone(id, 2, { cn: [Buffer.from([0xff, 0xfe])], uid: [Buffer.from([0xc3, 0x28])], mail: [] }),
          someone(id, 3, { mail: ['no address'], departmentNumber: Array.from({ length: 500 }, () => 'many') }),
          done(id, ''),
        ]),
      );
    });
    expect(items).toMatchObject([
      { userName: 'u1', email: null, jobTitle: 'line feed' },
      { email: null, externalId: expect.stringMatching(/2$/) as string },
      { email: null, department: 'many' },
    ]);
    expect(items[0]!.displayName.length).toBe(200);
    expect(JSON.stringify(items)).not.toContain('\\u0000');
  });

  it('lists an entry without an id, or with one that is too long', async () => {
    const withId =
      (ids: readonly string[]): LdapBehaviour =>
      ({ id }, socket) =>
        void socket.write(Buffer.concat([entry(id, 'uid=x', { entryUUID: ids, uid: ['x'] }), done(id, '')]));
    await expect(read(withId([]))).rejects.toThrow('the directory lists an entry without an id');
    await expect(read(withId(['x'.repeat(5_000)]))).rejects.toThrow('the directory lists a person without a usable id');
  });

  it('hides who is disabled: nobody is taken for active because of it', async () => {
    const account =
      (over: Readonly<Record<string, readonly string[]>>): LdapBehaviour =>
      ({ id }, socket) =>
        void socket.write(Buffer.concat([someone(id, 1, { objectGUID: ['0123456789abcdef'], ...over }), done(id, '')]));
    const activity = async (over: Readonly<Record<string, readonly string[]>>) => {
      const { items } = await using(account(over), (reader) => listed(reader.people()), activeDirectory);
      return items.map(({ isActive }) => isActive);
    };
    expect(await activity({ userAccountControl: ['512'] })).toEqual([true]);
    expect(await activity({ userAccountControl: ['514'] })).toEqual([false]);
    await expect(activity({})).rejects.toThrow('the account may not read userAccountControl');
  });

  it('refers to another server: the referral is not followed', async () => {
    const { items, isComplete } = await read(({ id }, socket) => {
      const referral = Buffer.from('ldap://elsewhere.example/dc=acme');
      const body = Buffer.concat([
        Buffer.from([0x02, 0x01, id, 0x73, referral.length + 2, 0x04, referral.length]),
        referral,
      ]);
      socket.write(Buffer.concat([Buffer.from([0x30, body.length]), body, someone(id, 1), done(id, '')]));
    });
    expect([items.length, isComplete]).toEqual([1, true]);
  });
});
