import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bucketOf } from '../../../../src/contexts/extension-rollouts/domain/device-bucket.ts';
import { watchRollouts } from '../../../../src/contexts/extension-rollouts/watch-rollouts.ts';
import { startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { enrolledDevice, type EnrolledDevice } from '../../../dsl/enrolled-device.ts';

const BASE = '/api/v1/admin/extension-rollouts';
const HEARTBEAT = '/api/v1/ext/heartbeat';
const rule = { factor: 2, minErrors: 4, minDevices: 2 };
const draft = (over: Record<string, unknown> = {}) => ({
  version: '2.1.0',
  rollbackVersion: '2.0.0',
  returnsOnHalt: true,
  stages: [{ percent: 100 }],
  halt: rule,
  ...over,
});

const jobContext = () => ({
  id: randomUUID(),
  attempt: 1,
  isLastAttempt: false,
  tenantId: undefined,
  correlationId: randomUUID(),
  signal: new AbortController().signal,
});

describe('rollouts of the extension', () => {
  let app: TestApp;
  const open: EnrolledDevice[] = [];
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(async () => {
    for (const { client } of open) client.close();
    await app.close();
  });

  const newDevice = async (tenant: TestTenant, over: Record<string, unknown> = {}, boundTo?: string) => {
    const device = await enrolledDevice(app, tenant, over, boundTo);
    open.push(device);
    return device;
  };
  const beat = async ({ client }: EnrolledDevice, extensionVersion = '2.0.0', errors = 0) => {
    const { status, body, text } = await client.post(HEARTBEAT, { extensionVersion, errors });
    expect(status, text).toBe(200);
    return body as { extension: { action: string; version: string } | null; commands: { type: string }[] };
  };
  const drafted = async ({ admin }: TestTenant, over: Record<string, unknown> = {}) => {
    const { status, body, text } = await admin.post(BASE, draft(over));
    expect(status, text).toBe(201);
    return body as Record<string, any>;
  };
  const moved = async ({ admin }: TestTenant, id: string, verb: string) => {
    const { status, body, text } = await admin.post(`${BASE}/${id}/${verb}`);
    expect(status, text).toBe(200);
    return body as Record<string, any>;
  };
  const started = async (tenant: TestTenant, over: Record<string, unknown> = {}) => {
    const { id } = await drafted(tenant, over);
    return moved(tenant, id, 'start');
  };
  const watch = async () => {
    await app.settled();
    await watchRollouts(app.services.database.projector, app.services.executor).handle({}, jobContext());
    await app.settled();
  };

  it('are drafted, changed, listed and deleted', async () => {
    const tenant = await app.newTenant();
    const made = await drafted(tenant);
    expect(made).toMatchObject({
      ...draft(),
      stages: [{ percent: 100, groupIds: [], soakHours: null }],
      browserType: null,
      status: 'draft',
      stage: 0,
      round: 0,
      history: [],
      startedAt: null,
    });
    expect(JSON.stringify(made)).not.toContain('salt');
    const changed = await tenant.admin.put(`${BASE}/${made.id}`, { browserType: 'edge' });
    expect([changed.status, changed.body.browserType, changed.body.version]).toEqual([200, 'edge', '2.1.0']);
    expect((await tenant.admin.get(BASE)).body).toMatchObject({ total: 1, rollouts: [{ id: made.id }] });
    expect((await tenant.admin.delete(`${BASE}/${made.id}`)).status).toBe(204);
    expect((await tenant.admin.get(`${BASE}/${made.id}`)).status).toBe(404);
  });

  it('are refused with the field that is wrong', async () => {
    const { admin } = await app.newTenant();
    const cases: [Record<string, unknown>, string][] = [
      [{ version: 'newest' }, 'version'],
      [{ rollbackVersion: '2.1.0' }, 'rollbackVersion'],
      [{ rollbackVersion: null }, 'rollbackVersion'],
      [{ stages: [] }, 'stages'],
      [{ stages: [{ percent: 101 }] }, 'stages.0.percent'],
      [{ stages: [{ percent: 10.123 }] }, 'stages.0.percent'],
      [{ stages: [{}] }, 'stages.0'],
      [{ stages: [{ percent: 10 }, { percent: 5 }] }, 'stages.1.percent'],
      [{ stages: [{ percent: 1 }, { groupIds: [randomUUID()], percent: 1 }] }, 'stages.1.groupIds'],
      [{ halt: { ...rule, minDevices: 1 } }, 'halt.minDevices'],
      [{ browserType: 'netscape' }, 'browserType'],
    ];
    for (const [over, field] of cases) {
      const { status, body } = await admin.post(BASE, draft(over));
      expect([status, body.fields?.[0]?.field], JSON.stringify(over)).toEqual([400, field]);
    }
  });

  it('tell devices of a group and of a share to update, and the others to stay', async () => {
    const tenant = await app.newTenant();
    const employee = await tenant.admin.post('/api/v1/admin/users', {
      email: `p-${randomUUID()}@acme.example`,
      displayName: 'Pilot',
    });
    const group = await tenant.admin.post('/api/v1/admin/groups', { name: 'Pilots' });
    expect([employee.status, group.status]).toEqual([201, 201]);
    const added = await tenant.admin.post(`/api/v1/admin/groups/${group.body.id}/members`, {
      userIds: [employee.body.id],
    });
    expect(added.status, added.text).toBeLessThan(300);
    const pilot = await newDevice(tenant, {}, employee.body.id);
    const fleet = await Promise.all(Array.from({ length: 6 }, () => newDevice(tenant)));
    expect((await beat(pilot)).extension).toBeNull();
    const { id } = await started(tenant, { stages: [{ groupIds: [group.body.id] }, { percent: 50 }] });
    await app.settled();
    const first = await beat(pilot);
    expect(first.extension).toEqual({ action: 'update', version: '2.1.0' });
    expect(first.commands.map(({ type }) => type)).toEqual(['update']);
    for (const device of fleet) expect((await beat(device)).extension).toEqual({ action: 'keep', version: '2.0.0' });
    expect((await beat(pilot, '2.1.0')).extension).toEqual({ action: 'keep', version: '2.1.0' });

    expect((await moved(tenant, id, 'advance')).stage).toBe(1);
    const { rows } = await app.services.database.owner.query<{ salt: string }>(
      'select salt from extension_rollouts where rollout_id = $1',
      [id],
    );
    const isFirst = ({ deviceId }: EnrolledDevice) => bucketOf(rows[0]!.salt, deviceId) < 5_000;
    for (const device of fleet)
      expect((await beat(device)).extension!.action).toBe(isFirst(device) ? 'update' : 'keep');

    await app.settled();
    const { body: progress } = await tenant.admin.get(`${BASE}/${id}/progress`);
    const inShare = fleet.filter(isFirst).length;
    expect(progress.stages).toMatchObject([
      { stage: 0, devices: 1, updatedDevices: 1, versions: [{ version: '2.1.0', devices: 1 }] },
      { stage: 1, devices: inShare, updatedDevices: 0 },
      { stage: null, devices: 6 - inShare, updatedDevices: 0 },
    ]);
    expect(progress).toMatchObject({ candidate: { devices: 1, errors: 0 }, baseline: { devices: 7 } });

    const complete = await moved(tenant, id, 'advance');
    expect(complete).toMatchObject({ status: 'completed', endedAt: expect.any(String) });
    for (const device of fleet) expect((await beat(device)).extension).toEqual({ action: 'update', version: '2.1.0' });
    expect(complete.history.map(({ transition }: { transition: string }) => transition)).toEqual([
      'started',
      'advanced',
      'completed',
    ]);
  });

  it('own their browsers until they end', async () => {
    const tenant = await app.newTenant();
    const firefox = await newDevice(tenant, { browserType: 'firefox' });
    const { id } = await started(tenant, { browserType: 'chrome' });
    expect((await beat(firefox)).extension).toBeNull();
    const everywhere = await drafted(tenant);
    const refused = await tenant.admin.post(`${BASE}/${everywhere.id}/start`);
    expect([refused.status, refused.body.code]).toEqual([409, 'rollout_overlaps']);
    await started(tenant, { browserType: 'firefox', version: '3.0' });
    expect((await beat(firefox)).extension).toEqual({ action: 'update', version: '3.0' });
    await moved(tenant, id, 'rollback');
    await started(tenant, { browserType: 'chrome' });
  });

  it('halt when devices report too many errors, once, and raise an alert', async () => {
    const tenant = await app.newTenant();
    const fleet = await Promise.all(Array.from({ length: 4 }, () => newDevice(tenant)));
    const [one, two, three, four] = fleet as [EnrolledDevice, EnrolledDevice, EnrolledDevice, EnrolledDevice];
    const { id } = await started(tenant);
    for (const device of fleet) await beat(device);
    // One device alone, whatever it reports.
    await beat(one, '2.1.0', 1_000_000);
    await watch();
    expect((await tenant.admin.get(`${BASE}/${id}`)).body.status).toBe('active');
    await beat(two, '2.1.0', 1);
    await beat(three, '2.1.0');
    await watch();
    await watch();
    const { body } = await tenant.admin.get(`${BASE}/${id}`);
    expect(body.status).toBe('halted');
    expect(body.history).toMatchObject([
      { transition: 'started', adminId: expect.any(String), figures: null },
      {
        transition: 'halted',
        adminId: null,
        figures: {
          candidate: { devices: 3, affectedDevices: 2, deviceHours: 3, errors: 11 },
          baseline: { devices: 4, affectedDevices: 0, deviceHours: 4, errors: 0 },
        },
      },
    ]);
    expect((await beat(two, '2.1.0')).extension).toEqual({ action: 'return', version: '2.0.0' });
    expect((await beat(four)).extension).toEqual({ action: 'keep', version: '2.0.0' });
    const { alerts } = (await tenant.admin.get('/api/v1/admin/alerts?alert_type=policy_violation')).body;
    expect(alerts).toMatchObject([{ severity: 'high', metadata: { kind: 'extension_rollout_halted', rolloutId: id } }]);

    // After it was resumed, errors of before do not count.
    expect(await moved(tenant, id, 'resume')).toMatchObject({ status: 'active', round: 2, stage: 0 });
    await watch();
    expect((await tenant.admin.get(`${BASE}/${id}`)).body.status).toBe('active');
    await moved(tenant, id, 'rollback');
    expect((await beat(two, '2.1.0')).extension).toEqual({ action: 'return', version: '2.0.0' });
    const { body: audit } = await tenant.admin.get('/api/v1/admin/audit-log?page_size=100');
    const actions = (audit.auditLogs as { action: string }[]).map(({ action }) => action);
    expect(actions.filter((action) => action.startsWith('extension_rollout.'))).toEqual([
      'extension_rollout.rolled_back',
      'extension_rollout.resumed',
      'extension_rollout.halted',
      'extension_rollout.started',
      'extension_rollout.drafted',
    ]);
  });

  it('tell devices nothing while they are paused, and go on', async () => {
    const tenant = await app.newTenant();
    const device = await newDevice(tenant);
    const { id } = await started(tenant);
    expect((await beat(device)).extension!.action).toBe('update');
    expect((await moved(tenant, id, 'pause')).status).toBe('paused');
    expect((await beat(device)).extension).toEqual({ action: 'keep', version: '2.0.0' });
    const refused = await tenant.admin.post(`${BASE}/${id}/advance`);
    expect([refused.status, refused.body.code]).toEqual([409, 'rollout_state']);
    await moved(tenant, id, 'resume');
    expect((await beat(device)).extension!.action).toBe('update');
  });

  it('begin the next stage after their soak time, once a device has the version', async () => {
    const tenant = await app.newTenant();
    const device = await newDevice(tenant);
    const { id } = await started(tenant, { stages: [{ percent: 50, soakHours: 0.1 }, { percent: 60 }] });
    await beat(device, '2.1.0');
    await watch();
    expect((await tenant.admin.get(`${BASE}/${id}`)).body.stage).toBe(0);
    const now = Date.now;
    Date.now = () => now() + 7 * 60_000;
    try {
      await watch();
      await watch();
    } finally {
      Date.now = now;
    }
    expect((await tenant.admin.get(`${BASE}/${id}`)).body).toMatchObject({ stage: 1, status: 'active' });
  });

  it('refuse what was decided on an older state (If-Match)', async () => {
    const tenant = await app.newTenant();
    const { id } = await started(tenant, { stages: [{ percent: 1 }, { percent: 2 }, { percent: 3 }] });
    const tag = (await tenant.admin.get(`${BASE}/${id}`)).headers.get('etag')!;
    const advance = () => tenant.admin.post(`${BASE}/${id}/advance`, undefined, { headers: { 'if-match': tag } });
    expect((await advance()).status).toBe(200);
    expect((await advance()).status).toBe(412);
  });

  it('belong to one tenant', async () => {
    const [acme, other] = [await app.newTenant(), await app.newTenant()];
    const { id } = await started(acme);
    const device = await newDevice(other);
    expect((await beat(device)).extension).toBeNull();
    for (const path of ['', '/progress']) expect((await other.admin.get(`${BASE}/${id}${path}`)).status).toBe(404);
    expect((await other.admin.post(`${BASE}/${id}/rollback`)).status).toBe(404);
    await started(other);
  });
});
