import { mkdtempSync, rmSync } from 'node:fs';
import { afterAll, expect, it } from 'vitest';
import { browser } from '../dsl/enrolled-device.ts';
import {
  administrator,
  databaseOf,
  LICENSED,
  setUpInstallation,
  standsStill,
  type Administrator,
} from './administrator.ts';
import { startService } from './service-process.ts';

const STEPS = ['extension_sessions', 'verification_codes', 'unblock_keys', 'enrollment_tokens', 'device_certificates'];
const DEVICES = 5;
const ROUND_MS = 150_000;

const dataDir = mkdtempSync('/var/tmp/castellan-offboarding-');
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));
const env = LICENSED;

const inDatabase = databaseOf(dataDir);

const BARRIER = `
  create table test_barrier (step text not null);
  insert into test_barrier values ('${STEPS[0]}');
  create function test_stand_still() returns trigger language plpgsql security definer as $$
  begin
    if new.type = 'OffboardingStepCompleted' and new.data->>'step' = (select step from public.test_barrier) then
      perform pg_sleep(60);
    end if;
    return new;
  end $$;
  create trigger test_stand_still before insert on events for each row execute function test_stand_still();`;

const isStandingStill = standsStill(inDatabase);
const recordedSteps = () =>
  inDatabase(async (client) => {
    const { rows } = await client.query<{ step: string }>(
      "select data->>'step' as step from events where type = 'OffboardingStepCompleted' order by position",
    );
    return rows.map(({ step }) => step);
  });
const nextBarrier = (step: string) =>
  inDatabase((client) => client.query('update test_barrier set step = $1', [step])).then(() => undefined);

const offboarded = async (admin: Administrator, userId: string) =>
  (await admin.ask('GET', `/api/v1/admin/users/${userId}/offboarding`)).body as {
    state: string;
    steps: { name: string; state: string; count: number; eventId: string }[];
  };

it(
  'completes an offboarding that was killed before each of its steps was recorded, with nothing twice',
  { timeout: 60_000 + (STEPS.length + 1) * ROUND_MS },
  async () => {
    let service = await startService(dataDir, env);
    const tenantId = await setUpInstallation(service);
    let admin = await administrator(service, tenantId);
    const userId = await leaver(admin, tenantId);
    await inDatabase((client) => client.query(BARRIER));
    await admin.ask('PUT', '/api/v1/admin/offboarding/settings', { certificateGraceMinutes: 0 });
    expect((await admin.ask('PUT', `/api/v1/admin/users/${userId}`, { status: 'inactive' })).status).toBe(200);
    for (const [at] of STEPS.entries()) {
      await expect.poll(isStandingStill, { timeout: ROUND_MS, interval: 100 }).toBe(true);
      // The first three are recorded together: the first two end nothing.
      expect(await recordedSteps()).toEqual(STEPS.slice(0, at < 3 ? 0 : at));
      await nextBarrier(STEPS[at + 1] ?? 'none');
      await service.kill();
      service = await startService(dataDir, env);
    }
    admin = await administrator(service, tenantId);
    await expect
      .poll(async () => (await offboarded(admin, userId)).state, { timeout: ROUND_MS, interval: 250 })
      .toBe('completed');
    const { steps } = await offboarded(admin, userId);
    expect(steps.map(({ name, count }) => [name, count])).toEqual(STEPS.map((name, at) => [name, [5, 1, 1, 1, 5][at]]));
    await expectNothingTwice();
    await service.stop();
  },
);

/** A person with five browsers, an unused token and an unblock key. */
async function leaver(admin: Administrator, tenantId: string): Promise<string> {
  const person = { email: 'leaver@acme.example', displayName: 'Leaver' };
  const userId = (await admin.ask('POST', '/api/v1/admin/users', person)).body['id'] as string;
  const token = async () =>
    (await admin.askWithProof('POST', '/api/v1/admin/enrollment/token', { userId })).body['token'] as string;
  for (let n = 0; n < DEVICES; n += 1) {
    const enrollment = browser({ enrollmentToken: await token() });
    const enrolled = await admin.anonymously('POST', '/api/v1/enroll/certificate', enrollment, {
      'x-tenant-id': tenantId,
    });
    expect([enrolled.status, enrolled.body['userId']]).toEqual([200, userId]);
  }
  await token();
  const key = { domain: 'shop.example', reason: 'needed', userId };
  expect((await admin.ask('POST', '/api/v1/admin/unblock-keys', key)).status).toBe(201);
  return userId;
}

async function expectNothingTwice(): Promise<void> {
  const counted = await inDatabase((client) =>
    client.query<{ type: string; events: number; streams: number }>(
      `select type, count(*)::int as events, count(distinct stream)::int as streams from events
        where type like 'Offboarding%' or type in ('DeviceRevoked', 'EnrollmentTokenRevoked', 'UnblockKeyRevoked')
        group by type`,
    ),
  );
  expect(Object.fromEntries(counted.rows.map(({ type, events, streams }) => [type, [events, streams]]))).toEqual({
    OffboardingSettingsUpdated: [1, 1],
    OffboardingStarted: [1, 1],
    OffboardingStepCompleted: [STEPS.length, 1],
    OffboardingCompleted: [1, 1],
    DeviceRevoked: [DEVICES, DEVICES],
    EnrollmentTokenRevoked: [1, 1],
    UnblockKeyRevoked: [1, 1],
  });
}
