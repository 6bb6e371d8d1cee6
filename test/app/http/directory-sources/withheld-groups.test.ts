import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../../dsl/app.ts';
import { personNumbered, type PeerContent } from '../../../dsl/directory-peers.ts';
import { PROVIDERS, SyncedDirectory } from '../../../dsl/synced-directory.ts';

const LACKS = 'the credentials lack a permission of the directory';
const people = [0, 1, 2, 3].map((n) => personNumbered(n));
const [sales, trade] = [
  { id: 'g-sales', name: 'Sales', members: ['id-0', 'id-1', 'id-2', 'id-3'] },
  { id: 'g-trade', name: 'Trade', members: ['id-2'] },
];
const content = (): PeerContent => ({ people, groups: [sales, trade] });
const mails = (...numbers: readonly number[]) => numbers.map((n) => `person${n}@acme.example`);
const types = Object.keys(PROVIDERS) as (keyof typeof PROVIDERS)[];

describe.each(types)('a selected group of %s that the source may not read', (type) => {
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
  const forbid = (...paths: readonly RegExp[]) =>
    directory.peer.misbehave((url, response) => {
      if (!paths.some((path) => path.test(url.pathname + url.search))) return false;
      response.writeHead(403, { 'content-type': 'application/json' }).end('{}');
      return true;
    });
  const members = /\/groups\/g-sales\/(?:transitiveMembers|members|users)/;
  const bothOf = async () =>
    Object.fromEntries((await directory.groups()).map(({ name, members: found }) => [name, found]));
  const source = async () => (await directory.tenant.admin.get('/api/v1/admin/directory-sources')).body.sources[0];

  it('keeps its members, while people and the other groups follow the directory', async () => {
    await open();
    forbid(members);
    directory.peer.content.people = [...people.slice(1, 3), personNumbered(3, { isActive: false }), personNumbered(4)];
    directory.peer.content.groups = [
      { ...sales, name: 'Renamed', members: ['id-4'] },
      { ...trade, members: ['id-1', 'id-4'] },
    ];
    const error = `a group could not be read: ${LACKS}, for the group g-sales`;
    const ended = await directory.sync();
    expect(ended).toMatchObject({
      syncState: 'succeeded',
      error,
      counts: { created: 1, deactivated: 2, groups: 1, memberships: 2 },
      plan: { unreadGroups: [{ externalId: 'g-sales', name: 'Renamed', reason: LACKS }] },
    });
    expect(await source()).toMatchObject({ syncState: 'succeeded', lastSyncError: error });
    expect(await bothOf()).toEqual({ Sales: mails(0, 1, 2, 3), Trade: mails(1, 4) });
    expect((await directory.person('person0@acme.example')).status).toBe('inactive');
    expect((await directory.person('person1@acme.example')).status).not.toBe('inactive');

    directory.peer.misbehave();
    expect(await directory.sync()).toMatchObject({ syncState: 'succeeded', error: null, plan: { unreadGroups: [] } });
    expect(await bothOf()).toEqual({ Renamed: mails(4), Trade: mails(1, 4) });
    expect((await source()).lastSyncError).toBeNull();
    await directory.peer.close();
  });

  it('keeps its members also if a later page of them, or the group itself, is forbidden', async () => {
    await open();
    for (const forbidden of [/\/groups\/g-sales\/.*(?:skiptoken|pageToken|after)=/, /\/groups\/g-sales(?:\?|$)/]) {
      forbid(forbidden);
      directory.peer.content.groups = [{ ...sales, members: ['id-0', 'id-1', 'id-2', 'id-3', 'id-9'] }, trade];
      expect(await directory.sync()).toMatchObject({
        syncState: 'succeeded',
        counts: { deactivated: 0, groups: 1 },
        plan: { unreadGroups: [{ externalId: 'g-sales', reason: LACKS }] },
      });
      expect(await bothOf()).toEqual({ Sales: mails(0, 1, 2, 3), Trade: mails(2) });
    }
    await directory.peer.close();
  });

  it('is in no plan, and is not created', async () => {
    directory = await SyncedDirectory.open(app, content(), type);
    await directory.select('g-sales', 'g-trade');
    forbid(members);
    const planned = await directory.sync('?dryRun=true');
    expect(planned).toMatchObject({ syncState: 'planned', counts: { groups: 1 } });
    expect(planned.plan.groups.map(({ externalId }: { externalId: string }) => externalId)).toEqual(['g-trade']);
    expect(planned.error).toContain('g-sales');
    await directory.sync();
    expect(await bothOf()).toEqual({ Trade: mails(2) });
    await directory.peer.close();
  });

  it('deactivates nobody if all groups are forbidden, and the source fails if people are', async () => {
    await open();
    forbid(/\/groups\//);
    expect(await directory.sync()).toMatchObject({
      syncState: 'succeeded',
      error: `2 groups could not be read, the first one: ${LACKS}, for the group g-sales`,
      counts: { people: 4, unchanged: 4, deactivated: 0, groups: 0 },
    });
    expect(await bothOf()).toEqual({ Sales: mails(0, 1, 2, 3), Trade: mails(2) });
    forbid(/\/groups/, /\/users/);
    expect(await directory.sync()).toMatchObject({ syncState: 'failed', error: LACKS, counts: { deactivated: 0 } });
    expect(await bothOf()).toEqual({ Sales: mails(0, 1, 2, 3), Trade: mails(2) });
    await directory.peer.close();
  });
});
