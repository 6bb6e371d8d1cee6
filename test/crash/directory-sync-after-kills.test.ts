import { mkdtempSync, rmSync } from 'node:fs';
import { afterAll, expect, it } from 'vitest';
import { OKTA_TOKEN, personNumbered, startOkta } from '../dsl/directory-peers.ts';
import { administrator, databaseOf, LICENSED, setUpInstallation, standsStill } from './administrator.ts';
import { startService, type ServiceProcess } from './service-process.ts';

const SOURCES = '/api/v1/admin/directory-sources';
/** An attempt holds its synchronization for 20 seconds, and a rescue looks for lost ones every minute. */
const ROUND_MS = 150_000;

const dataDir = mkdtempSync('/var/tmp/castellan-synchronized-');
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));
const inDatabase = databaseOf(dataDir);

/** Stands still before people who were written are noted as done, or before a group is written. */
const BARRIER = `
  create table test_barrier (step text not null);
  insert into test_barrier values ('people');
  create function test_stand_still() returns trigger language plpgsql security definer as $$
  begin
    if tg_argv[0] = (select step from public.test_barrier) then
      perform pg_sleep(60);
    end if;
    return new;
  end $$;
  create trigger test_stand_still before update on directory_sync_runs for each row
    when (new.carried_out_to > old.carried_out_to) execute function test_stand_still('people');
  create trigger test_stand_still before insert on events for each row
    when (new.type = 'GroupCreated') execute function test_stand_still('groups');`;

it(
  'completes a synchronization that was killed while it read, wrote people, and wrote groups, with nothing twice',
  { timeout: 60_000 + 5 * ROUND_MS },
  async () => {
    const people = Array.from({ length: 40 }, (_, n) => personNumbered(n));
    const group = { id: 'everybody', name: 'Everybody', members: people.map(({ id }) => id) };
    const peer = await startOkta({ people: people.slice(0, 20), groups: [] });
    const env = { ...LICENSED, DEV_MODE: 'true', NODE_ENV: 'test' };
    let service = await startService(dataDir, env);
    const tenantId = await setUpInstallation(service);
    const restarted = async (): Promise<ServiceProcess> => {
      await service.kill();
      return (service = await startService(dataDir, env));
    };
    const asked = async (method: string, path: string, body?: object) => {
      const answer = await (await administrator(service, tenantId)).askWithProof(method, path, body);
      expect([path, answer.status < 300, answer.body]).toEqual([path, true, answer.body]);
      return answer.body;
    };
    const config = { orgUrl: peer.url, apiToken: OKTA_TOKEN };
    const { id } = await asked('POST', SOURCES, { name: 'Okta', type: 'okta', config });
    const source = `${SOURCES}/${id as string}`;
    const begin = async () => (await asked('POST', `${source}/sync`))['syncId'] as string;
    const ended = (syncId: string) =>
      expect
        .poll(async () => (await asked('GET', `${source}/syncs/${syncId}`))['syncState'], {
          timeout: ROUND_MS,
          interval: 500,
        })
        .toBe('succeeded');
    await ended(await begin());

    // The directory has changed everybody, lost one person, and has newcomers and a group.
    peer.content.people = people.slice(1).map((one) => ({ ...one, title: 'Manager' }));
    peer.content.groups = [group];
    await asked('PUT', `${source}/synced-groups`, { groupIds: [group.id] });
    await inDatabase((client) => client.query(BARRIER));
    let isReading = false;
    peer.misbehave((url) => {
      isReading ||= url.searchParams.has('after');
      return url.searchParams.has('after');
    });
    const syncId = await begin();
    await expect.poll(() => isReading, { timeout: ROUND_MS }).toBe(true);
    peer.misbehave();
    for (const next of ['people', 'groups', 'nowhere']) {
      if (next !== 'people')
        await expect.poll(standsStill(inDatabase), { timeout: ROUND_MS, interval: 100 }).toBe(true);
      await inDatabase((client) => client.query('update test_barrier set step = $1', [next]));
      await restarted();
    }
    await ended(syncId);
    const receipt = await asked('GET', `${source}/syncs/${syncId}`);
    expect(receipt['counts']).toMatchObject({ people: 39, refused: 0, groups: 1, memberships: 39 });
    const { users } = (await asked('GET', '/api/v1/admin/users?page_size=100')) as {
      users: { email: string; status: string; jobTitle: string }[];
    };
    const shown = users.map(({ email, status, jobTitle }) => [email, status, jobTitle]).sort();
    expect(shown).toEqual(
      people.map(({ email }, at) => (at === 0 ? [email, 'inactive', 'Clerk'] : [email, 'pending', 'Manager'])).sort(),
    );
    const { rows } = await inDatabase((client) =>
      client.query<{ type: string; events: number }>(
        `select type, count(*)::int as events from events
          where type in ('EmployeeCreated', 'EmployeeUnlinked', 'GroupCreated', 'DirectorySyncStarted', 'DirectorySyncEnded')
          group by type`,
      ),
    );
    expect(Object.fromEntries(rows.map(({ type, events }) => [type, events]))).toEqual({
      EmployeeCreated: 40,
      EmployeeUnlinked: 1,
      GroupCreated: 1,
      DirectorySyncStarted: 2,
      DirectorySyncEnded: 2,
    });
    await service.stop();
    await peer.close();
  },
);
