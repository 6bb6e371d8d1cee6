import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { provisionEmployee } from '../../../../commands/employees/provision-employee.ts';
import { unprovisionEmployee } from '../../../../commands/employees/unprovision-employee.ts';
import { compose, type Application } from '../../../../src/app/compose/compose.ts';
import { system } from '../../../../src/platform/kernel/actor.ts';
import type { AnyCommand } from '../../../../src/platform/kernel/command.ts';
import { orThrow } from '../../../../src/platform/kernel/failure.ts';
import { newLogger } from '../../../../src/platform/observability/logger.ts';
import { startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { enrolledDevice, enrollmentTokenOf, tryToEnroll, type EnrolledDevice } from '../../../dsl/enrolled-device.ts';

const USERS = '/api/v1/admin/users';
const POLICIES = '/api/v1/ext/policies';
const STEPS = ['extension_sessions', 'verification_codes', 'unblock_keys', 'enrollment_tokens', 'device_certificates'];

describe('a leaver', () => {
  let app: TestApp;
  let other: Application;
  let acme: TestTenant;
  const open: EnrolledDevice[] = [];
  beforeAll(async () => {
    app = await startApp({ trustedProxies: ['127.0.0.1/32'] });
    other = await compose(
      { ...app.config, role: 'api' },
      { database: app.services.database.config, log: newLogger('silent') },
    );
    acme = await app.newTenant();
  });
  afterAll(async () => {
    for (const { client } of open) client.close();
    await other.stop();
    await app.close();
  });

  const person = async (): Promise<string> =>
    (await acme.admin.post(USERS, { email: `${randomUUID()}@acme.example`, displayName: 'Somebody' })).body.id;
  async function deviceOf(userId: string): Promise<EnrolledDevice> {
    const device = await enrolledDevice(app, acme, {}, userId);
    open.push(device);
    return device;
  }
  const receipt = async (userId: string) => (await acme.admin.get(`${USERS}/${userId}/offboarding`)).body;
  const receiptIn = async (userId: string, state: string) => {
    await expect.poll(async () => (await receipt(userId)).state, { timeout: 20_000 }).toBe(state);
    return receipt(userId);
  };
  const statusOn = (base: string, { certificatePem }: EnrolledDevice) =>
    fetch(base + POLICIES, { headers: { 'x-client-cert': encodeURIComponent(certificatePem) } }).then(
      async (answer) => (await answer.arrayBuffer(), answer.status),
    );
  const execute = async (command: AnyCommand, input: unknown) =>
    orThrow(
      await app.services.executor.execute(command, input as never, {
        tenantId: acme.tenantId,
        actor: system('test'),
      }),
    );
  const source = { kind: 'scim', id: randomUUID() } as const;
  const linkedPerson = async (): Promise<string> => {
    const userId = randomUUID();
    const person = {
      userName: userId,
      externalId: null,
      email: `${userId}@acme.example`,
      displayName: 'Somebody',
      department: null,
      jobTitle: null,
      isActive: true,
      upn: null,
      sid: null,
      profile: null,
    };
    await execute(provisionEmployee, { userId, source, person, ifLinked: 'refuse' });
    await app.settled();
    return userId;
  };
  const letGo = (userId: string) => execute(unprovisionEmployee, { userId, source, how: 'deactivate' });

  it('loses five connections on every node, keys, tokens and certificates, and a receipt says so', async () => {
    const userId = await linkedPerson();
    const devices = await Promise.all(Array.from({ length: 5 }, () => deviceOf(userId)));
    const unused = await enrollmentTokenOf(acme, userId);
    const keyFor = { domain: 'shop.example', reason: 'needed', userId };
    const { body: key } = await acme.admin.post('/api/v1/admin/unblock-keys', keyFor);
    for (const device of devices) {
      expect((await device.client.get(POLICIES)).status).toBe(200);
      expect(await statusOn(other.addresses.http, device)).toBe(200);
    }
    const { position } = await letGo(userId);
    await app.services.freshness.waitFor(['live-state'], position!, 5_000);
    for (const device of devices) {
      expect((await device.client.get(POLICIES)).status).toBe(401);
      await expect.poll(() => statusOn(other.addresses.http, device), { timeout: 1_000, interval: 5 }).toBe(401);
    }
    const done = await receiptIn(userId, 'completed');
    expect(done).toMatchObject({ userId, cause: 'unprovisioned', source, by: { kind: 'system', id: null } });
    expect(done.steps.map(({ name, state, count }: Record<string, unknown>) => [name, state, count])).toEqual(
      STEPS.map((name, at) => [name, 'completed', [5, 1, 1, 1, 5][at]]),
    );
    expect(new Set(done.steps.map(({ eventId }: { eventId: string }) => eventId)).size).toBe(5);
    await app.settled();
    for (const { deviceId } of devices)
      expect((await acme.admin.get(`/api/v1/admin/devices/${deviceId}`)).body.status).toBe('revoked');
    expect((await acme.admin.get('/api/v1/admin/unblock-keys')).body.unblockKeys).toContainEqual(
      expect.objectContaining({ id: key.id, status: 'revoked' }),
    );
    expect((await tryToEnroll(app, acme.tenantId, unused)).status).toBe(401);
  });

  it('keeps suspended devices for a time of grace after a deactivation, and gets them back with a return', async () => {
    const userId = await person();
    const device = await deviceOf(userId);
    await acme.admin.put(`${USERS}/${userId}`, { status: 'inactive' });
    expect((await device.client.get(POLICIES)).status).toBe(401);
    await expect
      .poll(async () => (await receipt(userId)).steps?.map(({ state }: { state: string }) => state), {
        timeout: 20_000,
      })
      .toEqual(['completed', 'completed', 'completed', 'completed', 'waiting']);
    expect(await receipt(userId)).toMatchObject({
      state: 'running',
      cause: 'deactivated',
      by: { kind: 'admin', id: acme.adminId },
      source: null,
    });
    await acme.admin.put(`${USERS}/${userId}`, { status: 'active' });
    expect((await device.client.get(POLICIES)).status).toBe(200);
    expect((await receiptIn(userId, 'cancelled')).steps.at(-1)).toMatchObject({ state: 'cancelled' });
  });

  it('waits for no grace where the tenant gives none, or when the deletion follows', async () => {
    const settings = '/api/v1/admin/offboarding/settings';
    const waiting = await person();
    await deviceOf(waiting);
    await acme.admin.put(`${USERS}/${waiting}`, { status: 'inactive' });
    await expect.poll(async () => (await receipt(waiting)).steps?.at(-1).state, { timeout: 20_000 }).toBe('waiting');
    expect((await acme.admin.delete(`${USERS}/${waiting}`)).status).toBe(204);
    expect(await receiptIn(waiting, 'completed')).toMatchObject({ cause: 'deleted' });

    expect((await acme.admin.put(settings, { certificateGraceMinutes: 0 })).status).toBe(200);
    const userId = await person();
    const { deviceId } = await deviceOf(userId);
    await acme.admin.put(`${USERS}/${userId}`, { status: 'inactive' });
    expect(await receiptIn(userId, 'completed')).toMatchObject({ cause: 'deactivated' });
    await app.settled();
    expect((await acme.admin.get(`/api/v1/admin/devices/${deviceId}`)).body.status).toBe('revoked');
    expect((await acme.admin.put(settings, { certificateGraceMinutes: 60 })).status).toBe(200);
  });

  it('leaves a receipt that outlives an erasure, and is none of another tenant', async () => {
    const userId = await person();
    await deviceOf(userId);
    expect((await acme.admin.get(`${USERS}/${userId}/offboarding`)).status).toBe(404);
    expect((await acme.admin.delete(`${USERS}/${userId}?erase=true`)).status).toBe(204);
    expect(await receiptIn(userId, 'completed')).toMatchObject({ cause: 'deleted' });
    const stranger = await app.newTenant();
    expect((await stranger.admin.get(`${USERS}/${userId}/offboarding`)).status).toBe(404);
  });
});
