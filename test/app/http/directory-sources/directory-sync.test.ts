import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import {
  GRAPH,
  graphUser,
  OKTA_TOKEN,
  personNumbered,
  startGraph,
  startOkta,
  type DirectoryPeer,
  type PeerContent,
} from '../../../dsl/directory-peers.ts';

const BASE = '/api/v1/admin/directory-sources';
const crowd = (n: number): PeerContent => ({
  people: Array.from({ length: n }, (_, at) => personNumbered(at)),
  groups: [
    { id: 'g-sales', name: 'Sales', members: ['id-0', 'id-1', 'g-inner'] },
    { id: 'g-inner', name: 'Inner', members: ['id-2'] },
  ],
});

describe('a directory is synchronized', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let peer: DirectoryPeer;
  let sourceId: string;
  beforeAll(async () => {
    app = await startApp({ devMode: true });
  });
  afterAll(() => app.close());

  async function begin(content: PeerContent, over: object = {}) {
    tenant = await app.newTenant();
    peer = await startGraph(content);
    const created = await tenant.admin.post(BASE, {
      name: 'Company',
      type: 'entra_id',
      config: { ...GRAPH, loginUrl: peer.url, graphUrl: peer.url },
      ...over,
    });
    expect([created.status, created.body.syncState]).toEqual([201, 'idle']);
    sourceId = created.body.id as string;
  }
  const settledSync = async (syncId: string) => {
    for (
      const until = Date.now() + 60_000;
      Date.now() < until;
      await new Promise((resolve) => setTimeout(resolve, 50))
    ) {
      const { body } = await tenant.admin.get(`${BASE}/${sourceId}/syncs/${syncId}`);
      if (body.syncState !== 'syncing') return body;
    }
    throw new Error('the synchronization did not end');
  };
  const sync = async (query = '') => {
    const { status, body } = await tenant.admin.post(`${BASE}/${sourceId}/sync${query}`, {});
    expect([status, body.syncState]).toEqual([202, 'syncing']);
    return settledSync(body.syncId as string);
  };
  const employees = async () => {
    await app.settled();
    const { body } = await tenant.admin.get('/api/v1/admin/users?page_size=100');
    return (body.users as { id: string; email: string; displayName: string; status: string; source: string }[]).map(
      (one) => ({ ...one, isActive: one.status !== 'inactive' }),
    );
  };

  it('makes a plan that changes nobody, carries it out, and has nothing to do the second time', async () => {
    await begin(crowd(7));
    const plan = await sync('?dryRun=true');
    expect([plan.syncState, plan.dryRun, plan.counts.created]).toEqual(['planned', true, 7]);
    expect(plan.plan.created[0]).toMatchObject({ externalId: 'id-0', email: 'person0@acme.example', userId: null });
    expect(await employees()).toEqual([]);

    const first = await sync();
    expect([first.syncState, first.counts]).toMatchObject(['succeeded', { people: 7, created: 7, refused: 0 }]);
    const people = await employees();
    expect(people.map(({ email, source }) => [email, source]).sort()).toEqual(
      crowd(7).people.map(({ email }) => [email, 'directory']),
    );
    const again = await sync();
    expect(again.counts).toMatchObject({ created: 0, changed: 0, deactivated: 0, unchanged: 7 });
    const { body: list } = await tenant.admin.get(`${BASE}/${sourceId}/syncs`);
    expect([list.total, list.syncs.map((one: { dryRun: boolean }) => one.dryRun)]).toEqual([3, [false, false, true]]);
    const source = (await tenant.admin.get(`${BASE}/${sourceId}`)).body;
    expect(source).toMatchObject({ syncState: 'succeeded', usersSynced: 7, lastSyncError: null });
  });

  it('follows what changes, disappears and returns', async () => {
    peer.content.people = [
      personNumbered(0, { name: 'Renamed' }),
      personNumbered(1, { isActive: false }),
      ...crowd(7).people.slice(3),
    ];
    const changed = await sync();
    expect(changed.counts).toMatchObject({ changed: 1, deactivated: 2, unchanged: 4 });
    const statusOf = async () =>
      Object.fromEntries(
        (await employees()).map(({ email, displayName, isActive }) => [email.split('@')[0], [displayName, isActive]]),
      );
    expect(await statusOf()).toMatchObject({
      person0: ['Renamed', true],
      person1: ['Person 1', false],
      person2: ['Person 2', false],
      person3: ['Person 3', true],
    });
    peer.content.people = crowd(7).people;
    expect((await sync()).counts).toMatchObject({ linked: 1, changed: 2, created: 0 });
    expect(await statusOf()).toMatchObject({ person1: ['Person 1', true], person2: ['Person 2', true] });
  });

  it('links an employee with the same e-mail', async () => {
    await tenant.admin.post('/api/v1/admin/users', { email: 'person7@acme.example', displayName: 'By hand' });
    peer.content.people = crowd(8).people;
    expect((await sync()).counts).toMatchObject({ linked: 1, created: 0 });
    expect((await employees()).find(({ email }) => email.startsWith('person7'))!.displayName).toBe('Person 7');
  });

  it('keeps the selected groups with their members, and nested ones', async () => {
    const offered = (await tenant.admin.get(`${BASE}/${sourceId}/groups`)).body;
    expect(offered).toMatchObject({
      total: 2,
      groups: [{ externalId: 'g-sales', name: 'Sales', isSynced: false }, {}],
    });
    const unknown = await tenant.admin.put(`${BASE}/${sourceId}/synced-groups`, { groupIds: ['g-sales', 'g-gone'] });
    expect([unknown.status, unknown.body.fields?.[0]?.field]).toEqual([400, 'groupIds']);
    const chosen = await tenant.admin.put(`${BASE}/${sourceId}/synced-groups`, { groupIds: ['g-sales'] });
    expect([chosen.status, chosen.body.syncedGroupIds]).toEqual([200, ['g-sales']]);
    const planned = await sync('?dryRun=true');
    expect(planned.counts).toMatchObject({ groups: 1, memberships: 3 });
    const inPlan = { externalId: 'g-sales', name: 'Sales' };
    expect(planned.plan.groups).toEqual([{ ...inPlan, groupId: null, action: 'create', membersBefore: 0, members: 3 }]);
    expect((await tenant.admin.get('/api/v1/admin/groups')).body.groups).toEqual([]);
    expect((await sync()).counts).toMatchObject({ groups: 1, memberships: 3 });
    const kept = await sync('?dryRun=true');
    expect(kept.plan.groups).toMatchObject([{ ...inPlan, action: 'keep', membersBefore: 3, members: 3 }]);
    await app.settled();
    const groups = async () => (await tenant.admin.get('/api/v1/admin/groups')).body.groups;
    expect(await groups()).toMatchObject([
      { name: 'Sales', source: 'directory', externalId: 'g-sales', memberCount: 3 },
    ]);
    const [{ id }] = await groups();
    const byHand = await tenant.admin.post(`/api/v1/admin/groups/${id as string}/members`, {
      userId: (await employees())[0]!.id,
    });
    expect(byHand.status).toBe(409);

    peer.content.groups = [{ id: 'g-sales', name: 'Sales & more', members: ['id-4'] }];
    await sync();
    await app.settled();
    expect(await groups()).toMatchObject([{ name: 'Sales & more', memberCount: 1 }]);
    await tenant.admin.put(`${BASE}/${sourceId}/synced-groups`, { groupIds: [] });
    await sync();
    await app.settled();
    expect(await groups()).toMatchObject([{ name: 'Sales & more', source: 'manual', memberCount: 1 }]);
  });

  it('gives people to administrators when the source is removed', async () => {
    const removed = await tenant.admin.delete(`${BASE}/${sourceId}`);
    expect(removed.status).toBe(204);
    expect((await tenant.admin.get(`${BASE}/${sourceId}`)).status).toBe(404);
    const [person] = await employees();
    for (const until = Date.now() + 20_000; Date.now() < until;) {
      const changed = await tenant.admin.put(`/api/v1/admin/users/${person!.id}`, { displayName: 'Free' });
      if (changed.status === 200) break;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect((await tenant.admin.get(`/api/v1/admin/users/${person!.id}`)).body).toMatchObject({
      displayName: 'Free',
      status: 'pending',
    });
    await peer.close();
  });

  describe('and many people are missing', () => {
    let held: { syncId: string; counts: { deactivated: number }; plan: { deactivated: unknown[] } };
    beforeAll(async () => {
      await begin(crowd(40));
      await sync();
      peer.content.people = crowd(25).people;
      held = await sync();
    });
    afterAll(() => peer.close());
    const active = async () => (await employees()).filter(({ isActive }) => isActive).length;

    it('stops, changes nobody, raises an alert and waits', async () => {
      expect(held).toMatchObject({ syncState: 'awaiting_confirmation', linkedPeople: 40, counts: { deactivated: 15 } });
      expect(held.plan.deactivated[0]).toMatchObject({ displayName: expect.stringMatching(/^Person \d+$/) as string });
      expect(await active()).toBe(40);
      const { body } = await tenant.admin.get('/api/v1/admin/alerts');
      expect(body.alerts).toMatchObject([{ alertType: 'policy_violation', severity: 'high' }]);
      expect((await tenant.admin.get(`${BASE}/${sourceId}`)).body.syncState).toBe('awaiting_confirmation');
      const all = await tenant.admin.post(`${BASE}/sync-all`, {});
      expect([all.status, all.body]).toEqual([202, { started: 0, skipped: 1 }]);
    });

    it('needs a super admin who has just authenticated again', async () => {
      const path = `${BASE}/${sourceId}/syncs/${held.syncId}/confirm`;
      expect((await app.as(tenant.token).post(path, {})).status).toBe(403);
      const { client } = await app.adminWithRole(tenant, 'admin');
      expect((await client.post(path, {})).status).toBe(403);
      expect(await active()).toBe(40);
    });

    it('waits again if still more people are missing after the confirmation', async () => {
      peer.content.people = crowd(20).people;
      expect((await tenant.admin.post(`${BASE}/${sourceId}/syncs/${held.syncId}/confirm`, {})).status).toBe(202);
      const anew = await settledSync(held.syncId);
      expect(anew).toMatchObject({ syncState: 'awaiting_confirmation', counts: { deactivated: 20 } });
      expect(await active()).toBe(40);
    });

    it('is carried out after the confirmation of what it shows, people who came back excepted', async () => {
      peer.content.people = crowd(21).people;
      await tenant.admin.post(`${BASE}/${sourceId}/syncs/${held.syncId}/confirm`, {});
      expect(await settledSync(held.syncId)).toMatchObject({ syncState: 'succeeded', counts: { deactivated: 19 } });
      expect(await active()).toBe(21);
      const twice = await tenant.admin.post(`${BASE}/${sourceId}/syncs/${held.syncId}/confirm`, {});
      expect([twice.status, twice.body.code]).toEqual([409, 'directory_nothing_to_confirm']);
    });
  });

  describe('and the directory misbehaves', () => {
    beforeAll(async () => {
      await begin(crowd(9));
      await sync();
    });
    afterAll(() => peer.close());
    const nobodyLeft = async () => expect((await employees()).every(({ isActive }) => isActive)).toBe(true);
    /** The outcome of one attempt: the job itself would try again for minutes. */
    const failsWith = async (reason: string) => {
      const { DirectorySyncs: _ } = await import('../../../../src/contexts/directory-sources/sync-directory.ts');
      const reader = (await app.services.directoryReaders.open(tenant.tenantId, sourceId))!;
      const reading = async () => {
        for await (const step of reader.people()) if (step.kind === 'complete') return;
      };
      await expect(reading()).rejects.toThrow(reason);
      await nobodyLeft();
    };
    const changed = (change: (body: Record<string, unknown>) => unknown, from = 1) => {
      let pages = 0;
      peer.misbehave((url, response) => {
        if (!url.pathname.endsWith('/users/delta') || (pages += 1) <= from) return false;
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify(change({ value: [], '@odata.deltaLink': `${url.origin}/end` })));
        return true;
      });
    };

    it('by hiding whose accounts are enabled', async () => {
      const hidden = { id: 'id-0', userPrincipalName: 'person0@acme.example' };
      peer.misbehave((url, response) => {
        if (!/\/users(?:\/|$)/.test(url.pathname)) return false;
        const body = url.pathname.endsWith('/delta')
          ? { value: [hidden], '@odata.deltaLink': `${url.origin}/end` }
          : hidden;
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
        return true;
      });
      const reason = 'the directory does not say whose accounts are enabled';
      expect(await sync()).toMatchObject({ syncState: 'failed', error: reason });
      await failsWith(reason);
    });

    it('by ending early', async () => {
      changed(() => ({ value: [] }));
      await failsWith('the directory ended its list early');
    });

    it('by repeating a page', async () => {
      peer.misbehave((url, response) => {
        if (!url.pathname.endsWith('/users/delta')) return false;
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ value: [], '@odata.nextLink': `${url.origin}${url.pathname}?again` }));
        return true;
      });
      await failsWith('the directory repeats a page');
    });

    it('by sending half a page', async () => {
      peer.misbehave((url, response) => {
        if (!url.pathname.endsWith('/users/delta')) return false;
        response.writeHead(200, { 'content-type': 'application/json' }).end('{"value":[{"id":"id-0"');
        return true;
      });
      await failsWith('the directory returned half a page');
    });

    it('by naming another server', async () => {
      changed(() => ({ value: [], '@odata.nextLink': 'https://elsewhere.example/v1.0/users' }));
      await failsWith('the directory refers to another server');
    });

    it('by losing a permission', async () => {
      peer.misbehave(
        (url, response) => url.pathname.endsWith('/users/delta') && (response.writeHead(403).end('{}'), true),
      );
      const ended = await sync();
      expect(ended).toMatchObject({ syncState: 'failed', error: 'the credentials lack a permission of the directory' });
      await nobodyLeft();
      expect((await tenant.admin.get(`${BASE}/${sourceId}`)).body).toMatchObject({
        syncState: 'failed',
        lastSyncError: 'the credentials lack a permission of the directory',
      });
    });

    it('by limiting requests for a while', async () => {
      let limited = 2;
      peer.misbehave((url, response) => {
        if (!url.pathname.endsWith('/users/delta') || limited === 0) return false;
        limited -= 1;
        response.writeHead(limited === 1 ? 429 : 503, { 'retry-after': '0' }).end('{}');
        return true;
      });
      expect((await sync()).syncState).toBe('succeeded');
      await nobodyLeft();
    });
  });

  it('repeating people without end is noticed, and nobody is deactivated', async () => {
    const okta = await startOkta(crowd(9));
    tenant = await app.newTenant();
    const created = await tenant.admin.post(BASE, {
      name: 'Okta',
      type: 'okta',
      config: { orgUrl: okta.url, apiToken: OKTA_TOKEN },
    });
    sourceId = created.body.id as string;
    expect((await sync()).syncState).toBe('succeeded');
    let page = 0;
    okta.misbehave((url, response) => {
      if (url.pathname !== '/api/v1/users') return false;
      page += 1;
      response
        .writeHead(200, {
          'content-type': 'application/json',
          link: `<${url.origin}/api/v1/users?after=x${page}>; rel="next"`,
        })
        .end(
          JSON.stringify([
            { id: 'id-0', status: 'ACTIVE', profile: { login: 'person0@acme.example', email: 'person0@acme.example' } },
          ]),
        );
      return true;
    });
    const { body } = await tenant.admin.post(`${BASE}/${sourceId}/sync`, {});
    const running = await tenant.admin.post(`${BASE}/${sourceId}/sync`, {});
    expect([running.status, running.body.code]).toEqual([409, 'directory_syncing']);
    okta.misbehave((url, response) => url.pathname === '/api/v1/users' && (response.writeHead(403).end('{}'), true));
    await settledSync(body.syncId as string);
    expect((await employees()).filter(({ isActive }) => isActive).length).toBe(9);
    await okta.close();
  });

  it('stops when the source is switched off meanwhile, and changes nobody', async () => {
    await begin(crowd(9));
    await sync();
    peer.content.people = crowd(8).people;
    let proceed = () => {};
    const isRead = new Promise<void>((reached) =>
      peer.misbehave(async (url) => {
        if (!url.searchParams.has('$skiptoken')) return false;
        reached();
        await new Promise<void>((go) => (proceed = go));
        return false;
      }),
    );
    const { body } = await tenant.admin.post(`${BASE}/${sourceId}/sync`, {});
    await isRead;
    expect((await tenant.admin.put(`${BASE}/${sourceId}`, { isEnabled: false })).status).toBe(200);
    peer.misbehave();
    proceed();
    expect(await settledSync(body.syncId as string)).toMatchObject({
      syncState: 'failed',
      error: 'the source was switched off',
    });
    expect((await employees()).filter(({ isActive }) => isActive).length).toBe(9);
    expect((await tenant.admin.delete(`${BASE}/${sourceId}`)).status).toBe(204);
  });

  it('believes the last word of a delta query about somebody who is listed twice', async () => {
    await begin({ people: [personNumbered(1, { name: 'Renamed' }), personNumbered(2)], groups: [] });
    const changing = (url: URL, response: ServerResponse) => {
      if (!url.pathname.endsWith('/users/delta')) return false;
      const isFirst = !url.searchParams.has('$skiptoken');
      const removed = { reason: 'changed' };
      const body = isFirst
        ? {
            value: [0, 1, 2].map((n) => graphUser(personNumbered(n))),
            '@odata.nextLink': `${url.origin}${url.pathname}?$skiptoken=1`,
          }
        : {
            value: [
              { id: 'id-0', '@removed': removed },
              { id: 'id-1', displayName: 'Renamed' },
              // Nothing is said of it, and it is gone when it is asked for.
              { id: 'id-7', displayName: 'Gone' },
              { id: 'id-8', '@removed': removed },
            ],
            '@odata.deltaLink': `${url.origin}/end`,
          };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      return true;
    };
    peer.misbehave(changing);
    expect(await sync()).toMatchObject({ syncState: 'succeeded', counts: { created: 2, deactivated: 0 } });
    const names = async () =>
      (await employees())
        .map(({ displayName, isActive }) => `${displayName} ${isActive ? 'active' : 'inactive'}`)
        .sort();
    expect(await names()).toEqual(['Person 2 active', 'Renamed active']);

    peer.misbehave();
    peer.content.people = crowd(3).people;
    await sync();
    peer.content.people = [personNumbered(1, { name: 'Renamed' })];
    peer.misbehave(changing);
    expect((await sync()).counts).toMatchObject({ deactivated: 1, changed: 1, unchanged: 1 });
    expect(await names()).toEqual(['Person 0 inactive', 'Person 2 active', 'Renamed active']);
  });

  it('moves the link of a person who has a new entry, and ends nothing of theirs', async () => {
    await begin(crowd(3));
    await sync();
    const before = (await employees()).map(({ id, email }) => [email, id]).sort();
    peer.content.people = crowd(3).people.map((person) => ({ ...person, id: `new-${person.id}` }));
    const { counts, plan } = await sync();
    expect(counts).toMatchObject({ linked: 3, deactivated: 0, created: 0 });
    expect(plan.deactivated).toEqual([]);
    expect((await employees()).map(({ id, email }) => [email, id]).sort()).toEqual(before);
    for (const [, id] of before)
      expect((await tenant.admin.get(`/api/v1/admin/users/${id}/offboarding`)).status).toBe(404);
    expect((await sync()).counts).toMatchObject({ unchanged: 3, linked: 0, deactivated: 0 });
  });

  it('leaves an e-mail to the entry that has it, in the plan as in the run', async () => {
    await begin(crowd(3));
    await sync();
    const intruder = personNumbered(9, { email: 'person1@acme.example', name: 'Intruder' });
    const twin = personNumbered(10, { email: 'twin@acme.example', name: 'First' });
    peer.content.people = [...crowd(3).people, intruder, twin, { ...twin, id: 'id-twin', name: 'Second' }];
    const plan = await sync('?dryRun=true');
    expect(plan.counts).toMatchObject({ created: 1, linked: 0, refused: 2, unchanged: 3 });
    for (let round = 0; round < 2; round += 1) {
      expect((await sync()).counts).toMatchObject({ linked: 0, changed: 0, deactivated: 0, refused: 2 });
      const names = (await employees()).map(({ displayName }) => displayName).sort();
      expect(names).toEqual(['First', 'Person 0', 'Person 1', 'Person 2']);
    }
  });
});
