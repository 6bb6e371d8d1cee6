import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../../dsl/app.ts';
import { personNumbered, type PeerContent } from '../../../dsl/directory-peers.ts';
import { PROVIDERS, SyncedDirectory } from '../../../dsl/synced-directory.ts';

const GROUPS = '/api/v1/admin/groups';
const POLICIES = '/api/v1/admin/policies';
const rules = [
  {
    domainMatch: { type: 'wildcard', value: '*.example.com' },
    condition: 'password_reuse',
    action: 'block',
    message: 'No',
  },
];
const people = [0, 1, 2].map((n) => personNumbered(n));
const [sales, trade] = [
  { id: 'g-sales', name: 'Sales', members: ['id-0', 'id-1'] },
  { id: 'g-trade', name: 'Trade', members: ['id-2'] },
];
const content = (): PeerContent => ({ people, groups: [sales, trade] });
const types = Object.keys(PROVIDERS) as (keyof typeof PROVIDERS)[];

describe.each(types)('a selected group of %s', (type) => {
  let app: TestApp;
  let directory: SyncedDirectory;
  beforeAll(async () => {
    app = await startApp({ devMode: true });
  });
  afterAll(() => app.close());
  const open = async () => {
    directory = await SyncedDirectory.open(app, content(), type);
    await directory.select('g-sales', 'g-trade');
    expect((await directory.sync()).syncState).toBe('succeeded');
  };
  const groups = async (): Promise<{ id: string; name: string; source: string; memberCount: number }[]> =>
    (await directory.tenant.admin.get(GROUPS)).body.groups;
  const named = async (name: string) => (await groups()).find((one) => one.name === name)!;

  it('that is deleted there goes to administrators, and the people of the directory are followed', async () => {
    await open();
    directory.peer.content.groups = [trade];
    directory.peer.content.people = people.slice(1);
    expect(await directory.sync()).toMatchObject({
      syncState: 'succeeded',
      counts: { deactivated: 1, groups: 1, memberships: 1 },
    });
    expect((await directory.person('person0@acme.example')).status).toBe('inactive');
    expect([(await named('Sales')).source, (await named('Trade')).source]).toEqual(['manual', 'directory']);

    directory.peer.content.groups = [{ ...sales, members: ['id-1', 'id-2'] }, trade];
    await directory.sync();
    expect(await named('Sales')).toMatchObject({ source: 'directory', memberCount: 2 });
    await directory.peer.close();
  });

  it('that is gone for one answer only loses no member', async () => {
    await open();
    let isGone = true;
    directory.peer.misbehave((url, response) => {
      if (!isGone || !url.pathname.endsWith('/groups/g-sales')) return false;
      isGone = false;
      response.writeHead(404).end('{}');
      return true;
    });
    expect((await directory.sync()).syncState).toBe('succeeded');
    expect(await named('Sales')).toMatchObject({ source: 'manual', memberCount: 2 });
    await directory.sync();
    expect(await named('Sales')).toMatchObject({ source: 'directory', memberCount: 2 });
    await directory.peer.close();
  });

  it('stays when a list of groups is cut short', async () => {
    await open();
    directory.peer.misbehave((url, response) => {
      if (!url.pathname.endsWith('/groups')) return false;
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify(type === 'okta' ? [] : { value: [], groups: [] }));
      return true;
    });
    expect(await directory.sync()).toMatchObject({ syncState: 'succeeded', counts: { groups: 2, memberships: 3 } });
    expect((await groups()).map(({ source }) => source)).toEqual(['directory', 'directory']);
    await directory.peer.close();
  });

  it('is the same group with the same policies when it is selected again', async () => {
    await open();
    const before = await named('Sales');
    const made = await directory.tenant.admin.post(POLICIES, { name: 'For sales', rules, groupIds: [before.id] });
    expect(made.status).toBe(201);
    for (let round = 0; round < 2; round += 1) {
      await directory.select('g-trade');
      await directory.sync();
      expect(await named('Sales')).toMatchObject({ id: before.id, source: 'manual' });
      await directory.select('g-sales', 'g-trade');
      expect((await directory.sync()).syncState).toBe('succeeded');
      expect(await named('Sales')).toMatchObject({ id: before.id, source: 'directory', memberCount: 2 });
      expect((await groups()).length).toBe(2);
    }
    expect((await directory.tenant.admin.get(`${POLICIES}/${made.body.id as string}`)).body.groupIds).toEqual([
      before.id,
    ]);
    await directory.peer.close();
  });
});
