import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../../dsl/app.ts';
import { personNumbered, type PeerContent } from '../../../dsl/directory-peers.ts';
import { SyncedDirectory } from '../../../dsl/synced-directory.ts';

const EMAILS = [0, 1, 2].map((n) => `person${n}@acme.example`);
const people = [0, 1, 2].map((n) => personNumbered(n));
const sales = { id: 'g-sales', name: 'Sales', members: ['id-0', 'id-1'] };
const content = (): PeerContent => ({ people, groups: [sales] });

describe('what a directory says clashes with somebody or something else', () => {
  let app: TestApp;
  let directory: SyncedDirectory;
  beforeAll(async () => {
    app = await startApp({ devMode: true });
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    directory = await SyncedDirectory.open(app, content());
    return () => directory.peer.close();
  });

  it.each(['person1@acme.example', 'by-hand@acme.example'])(
    'somebody who leaves, with the e-mail %s of another person, has left',
    async (email) => {
      const { tenant, peer } = directory;
      await tenant.admin.post('/api/v1/admin/users', { email: 'by-hand@acme.example', displayName: 'By hand' });
      await directory.sync();
      peer.content.people = [personNumbered(0, { isActive: false, email, name: 'Gone' }), ...people.slice(1)];
      for (let round = 0; round < 2; round += 1)
        expect(await directory.sync()).toMatchObject({
          syncState: 'succeeded',
          counts: { deactivated: round === 0 ? 1 : 0, changed: 0, refused: 1 },
          plan: { refused: [{ externalId: 'id-0', refusal: expect.stringMatching(/^already exists: /) as string }] },
        });
      const leaver = await directory.person(EMAILS[0]!);
      expect(leaver).toMatchObject({ status: 'inactive', displayName: 'Person 0' });
      expect((await tenant.admin.get(`/api/v1/admin/users/${leaver.id}/offboarding`)).status).toBe(200);
    },
  );

  it('somebody whose host is written in two scripts is one person', async () => {
    const { tenant, peer } = directory;
    const email = 'ann@b\u00fccher.example';
    const { body } = await tenant.admin.post('/api/v1/admin/users', { email, displayName: 'By hand' });
    expect(body.email).toBe('ann@xn--bcher-kva.example');
    peer.content.people = [personNumbered(0, { email }), ...people.slice(1)];
    expect((await directory.sync()).counts).toMatchObject({ linked: 1, created: 2 });
    expect((await directory.person('ann@xn--bcher-kva.example')).id).toBe(body.id);
    const search = encodeURIComponent(email);
    expect((await tenant.admin.get(`/api/v1/admin/users?search=${search}`)).body.total).toBe(1);
    expect((await tenant.admin.get(`/api/v1/admin/search?q=${search}&type=users`)).body.total).toBe(1);
  });

  it('somebody whose new e-mail is refused stays in their groups', async () => {
    await directory.select('g-sales');
    await directory.sync();
    directory.peer.content.people = [personNumbered(0, { email: EMAILS[2]! }), ...people.slice(1)];
    for (let round = 0; round < 2; round += 1) {
      expect((await directory.sync()).counts).toMatchObject({ changed: 0, refused: 1, memberships: 2 });
      expect(await directory.groups()).toEqual([{ name: 'Sales', members: [EMAILS[0], EMAILS[1]] }]);
    }
  });

  it('somebody whose creation is refused is in no group, and counts as refused only', async () => {
    await directory.select('g-sales');
    directory.peer.content.people = [people[0]!, personNumbered(1, { email: EMAILS[0]! })];
    expect((await directory.sync()).counts).toMatchObject({ created: 1, refused: 1, memberships: 1 });
    expect(await directory.groups()).toEqual([{ name: 'Sales', members: [EMAILS[0]] }]);
  });

  describe('a group whose name another group has', () => {
    const NAME = 'Sales (g-sales)';
    let taken: string;
    const takeName = async (name: string) => {
      const { body } = await directory.tenant.admin.post('/api/v1/admin/groups', { name });
      taken = body.id as string;
    };

    it('follows the directory under another name, and gets its own when that is free', async () => {
      await takeName('Sales');
      await directory.select('g-sales');
      await directory.sync();
      expect(await directory.groups()).toEqual([{ name: NAME, members: [EMAILS[0], EMAILS[1]] }]);
      directory.peer.content.groups = [{ ...sales, members: ['id-1', 'id-2'] }];
      expect((await directory.sync()).counts).toMatchObject({ groups: 1, memberships: 2 });
      expect(await directory.groups()).toEqual([{ name: NAME, members: [EMAILS[1], EMAILS[2]] }]);
      await directory.tenant.admin.delete(`/api/v1/admin/groups/${taken}`);
      await directory.sync();
      expect(await directory.groups()).toEqual([{ name: 'Sales', members: [EMAILS[1], EMAILS[2]] }]);
    });

    it('follows it also when it is renamed to such a name', async () => {
      await directory.select('g-sales');
      await directory.sync();
      await takeName('Trade');
      directory.peer.content.groups = [{ ...sales, name: 'Trade', members: ['id-2'] }];
      await directory.sync();
      expect(await directory.groups()).toEqual([{ name: 'Trade (g-sales)', members: [EMAILS[2]] }]);
    });
  });
});
