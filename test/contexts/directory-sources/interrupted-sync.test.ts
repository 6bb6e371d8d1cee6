import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDirectorySync } from '../../../commands/directory-sources/start-directory-sync.ts';
import { DirectorySyncs } from '../../../src/contexts/directory-sources/sync-directory.ts';
import type { SyncPorts } from '../../../src/contexts/directory-sources/sync-ports.ts';
import { system } from '../../../src/platform/kernel/actor.ts';
import { orThrow } from '../../../src/platform/kernel/failure.ts';
import { startApp, type TestApp, type TestTenant } from '../../dsl/app.ts';
import { OKTA_TOKEN, personNumbered, startOkta, type DirectoryPeer } from '../../dsl/directory-peers.ts';

const BASE = '/api/v1/admin/directory-sources';
const PEOPLE = 30;

describe('a synchronization that is interrupted', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let peer: DirectoryPeer;
  let sourceId: string;
  beforeAll(async () => {
    app = await startApp({ devMode: true });
    tenant = await app.newTenant();
    peer = await startOkta({ people: Array.from({ length: PEOPLE }, (_, n) => personNumbered(n)), groups: [] });
    const config = { orgUrl: peer.url, apiToken: OKTA_TOKEN };
    const { body } = await tenant.admin.post(BASE, { name: 'Okta', type: 'okta', config });
    sourceId = body.id as string;
  });
  afterAll(async () => {
    await app.close();
    await peer.close();
  });

  const ports = (over: Partial<SyncPorts> = {}): SyncPorts => {
    const { executor, loader, freshness, directoryReaders, database, reads, store, accountDigest, log } = app.services;
    return {
      executor,
      freshness,
      accountDigest,
      log,
      aggregates: loader,
      readers: directoryReaders,
      pool: database.service,
      reads,
      head: () => store.head(),
      ...over,
    };
  };
  const begin = async (): Promise<string> => {
    const start = { sourceId, trigger: 'manual', isDryRun: false } as const;
    const execution = { tenantId: tenant.tenantId, actor: system('test') };
    return orThrow(await app.services.executor.execute(startDirectorySync, start, execution)).result.syncId;
  };
  const attempt = (syncId: string, over: Partial<SyncPorts> = {}, isLastAttempt = false) =>
    new DirectorySyncs(ports(over)).attempt({
      tenantId: tenant.tenantId,
      sourceId,
      syncId,
      correlationId: syncId,
      isLastAttempt,
      signal: new AbortController().signal,
    });
  const stateOf = async (syncId: string) => {
    await app.settled();
    return (await tenant.admin.get(`${BASE}/${sourceId}/syncs/${syncId}`)).body;
  };
  const people = async () => {
    await app.settled();
    return (await tenant.admin.get('/api/v1/admin/users?page_size=100')).body.total as number;
  };

  it('while it reads: the next attempt begins anew', async () => {
    const syncId = await begin();
    let pages = 0;
    peer.misbehave((url, response) => {
      if (url.pathname !== '/api/v1/users' || (pages += 1) < 3) return false;
      response.writeHead(404).end('{}');
      return true;
    });
    await expect(attempt(syncId)).rejects.toThrow('the directory returned status 404');
    expect([await people(), (await stateOf(syncId)).syncState]).toEqual([0, 'syncing']);
    peer.misbehave();
    await attempt(syncId);
    expect([await people(), await stateOf(syncId)]).toMatchObject([
      PEOPLE,
      { syncState: 'succeeded', counts: { people: PEOPLE, created: PEOPLE } },
    ]);
  });

  it('while it changes people: the next attempt goes on, and nobody is changed twice', async () => {
    peer.content.people = Array.from({ length: PEOPLE + 20 }, (_, n) => personNumbered(n, { title: 'Manager' }));
    const syncId = await begin();
    let commands = 0;
    const { executor } = app.services;
    const dying: SyncPorts['executor'] = {
      claimHolders: (tenantId, claims) => executor.claimHolders(tenantId, claims),
      execute: (async (...call: Parameters<typeof executor.execute>) => {
        commands += 1;
        if (commands > 25) throw new Error('the process has died');
        return executor.execute(...call);
      }) as SyncPorts['executor']['execute'],
      executeAll: executor.executeAll.bind(executor) as SyncPorts['executor']['executeAll'],
    };
    await expect(attempt(syncId, { executor: dying })).rejects.toThrow('the process has died');
    const requests = peer.requests.filter((one) => one.includes('/api/v1/users')).length;
    await attempt(syncId);
    // The plan is not made again from what has changed meanwhile.
    expect(peer.requests.filter((one) => one.includes('/api/v1/users')).length).toBe(requests);
    expect([await people(), await stateOf(syncId)]).toMatchObject([
      PEOPLE + 20,
      { syncState: 'succeeded', counts: { created: 20, changed: PEOPLE, refused: 0 } },
    ]);
    await attempt(syncId);
    const again = await begin();
    await attempt(again);
    expect((await stateOf(again)).counts).toMatchObject({ created: 0, changed: 0, unchanged: PEOPLE + 20 });
  });

  it('after it read a group in part: the next attempt leaves that group as it is, too', async () => {
    const [sales, trade] = [
      { id: 'g-sales', name: 'Sales', members: ['id-0', 'id-1'] },
      { id: 'g-trade', name: 'Trade', members: ['id-2'] },
    ];
    const counted = async () => {
      const { body } = await tenant.admin.get('/api/v1/admin/groups');
      const groups = body.groups as { name: string; source: string; memberCount: number }[];
      return groups.map(({ name, source, memberCount }) => [name, source, memberCount]).sort();
    };
    peer.content.groups = [sales, trade];
    await tenant.admin.put(`${BASE}/${sourceId}/synced-groups`, { groupIds: ['g-sales', 'g-trade'] });
    await attempt(await begin());
    peer.content.groups = [sales, { ...trade, members: ['id-2', 'id-3'] }];
    peer.misbehave((url, response) => {
      if (url.pathname !== '/api/v1/groups/g-sales/users') return false;
      response.writeHead(403).end('{}');
      return true;
    });
    const syncId = await begin();
    const { executor } = app.services;
    const dying: SyncPorts['executor'] = {
      claimHolders: (tenantId, claims) => executor.claimHolders(tenantId, claims),
      execute: () => Promise.reject(new Error('the process has died')),
      executeAll: executor.executeAll.bind(executor) as SyncPorts['executor']['executeAll'],
    };
    await expect(attempt(syncId, { executor: dying })).rejects.toThrow('the process has died');
    const requests = peer.requests.length;
    await attempt(syncId);
    expect(peer.requests.length).toBe(requests);
    expect(await stateOf(syncId)).toMatchObject({
      syncState: 'succeeded',
      error: expect.stringContaining('g-sales') as string,
      plan: { unreadGroups: [{ externalId: 'g-sales', name: 'Sales' }] },
    });
    expect(await counted()).toEqual([
      ['Sales', 'directory', 2],
      ['Trade', 'directory', 2],
    ]);
    peer.misbehave();
    await tenant.admin.put(`${BASE}/${sourceId}/synced-groups`, { groupIds: [] });
    await attempt(await begin());
  });

  it('after it created people, before it noted that: the next attempt creates nobody twice', async () => {
    const newcomers = Array.from({ length: 15 }, (_, n) => personNumbered(PEOPLE + 20 + n));
    peer.content.people = [...peer.content.people, ...newcomers];
    const syncId = await begin();
    const { executor } = app.services;
    const dying: SyncPorts['executor'] = {
      claimHolders: (tenantId, claims) => executor.claimHolders(tenantId, claims),
      execute: executor.execute.bind(executor) as SyncPorts['executor']['execute'],
      executeAll: (async (...call: Parameters<typeof executor.executeAll>) => {
        await executor.executeAll(...call);
        throw new Error('the process has died');
      }) as SyncPorts['executor']['executeAll'],
    };
    await expect(attempt(syncId, { executor: dying })).rejects.toThrow('the process has died');
    await attempt(syncId);
    expect([await people(), await stateOf(syncId)]).toMatchObject([
      PEOPLE + 35,
      { syncState: 'succeeded', counts: { created: 15, unchanged: PEOPLE + 20, refused: 0 } },
    ]);
  });

  it('is worked on by one attempt at a time', async () => {
    const syncId = await begin();
    const both = await Promise.allSettled([attempt(syncId), attempt(syncId)]);
    expect(both.filter(({ status }) => status === 'rejected')).toMatchObject([
      { reason: { message: 'another attempt is at work' } },
    ]);
    expect((await stateOf(syncId)).syncState).toBe('succeeded');
  });

  it('by an attempt that comes back too late: it changes nothing', async () => {
    const syncId = await begin();
    let release = () => {};
    const suspended = new Promise<void>((resolve) => (release = resolve));
    let first = true;
    peer.misbehave(async (url) => {
      if (url.pathname !== '/api/v1/users' || !first) return false;
      first = false;
      await suspended;
      return false;
    });
    const late = attempt(syncId);
    await new Promise((resolve) => setTimeout(resolve, 200));
    const heldUntil = async () =>
      (
        await app.services.database.owner.query<{ held: number }>(
          'select extract(epoch from held_until)::float8 as held from directory_sync_runs where sync_id = $1',
          [syncId],
        )
      ).rows[0]!.held;
    // A directory that answers slowly does not end the hold: it is renewed meanwhile.
    const before = await heldUntil();
    while ((await heldUntil()) === before) await new Promise((resolve) => setTimeout(resolve, 250));
    await app.services.database.owner.query(
      `update directory_sync_runs set held_until = now() - interval '1 second' where sync_id = $1`,
      [syncId],
    );
    await attempt(syncId);
    release();
    await expect(late).rejects.toThrow('another attempt has taken over');
    expect((await stateOf(syncId)).syncState).toBe('succeeded');
    peer.misbehave();
  });

  it('ends as failed with the last attempt, and a directory that lists nobody deactivates nobody', async () => {
    peer.content.people = [];
    const syncId = await begin();
    await expect(attempt(syncId)).rejects.toThrow('the directory lists nobody');
    await attempt(syncId, {}, true);
    expect(await stateOf(syncId)).toMatchObject({ syncState: 'failed', error: 'the directory lists nobody' });
    const { body } = await tenant.admin.get('/api/v1/admin/users?status=inactive');
    expect(body.total).toBe(0);
  });
});
