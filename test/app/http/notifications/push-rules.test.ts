import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { newAlert } from '../../../dsl/notified.ts';
import { deleteGroup } from '../../../../commands/groups/delete-group.ts';
import { system } from '../../../../src/platform/kernel/actor.ts';
import { orThrow } from '../../../../src/platform/kernel/failure.ts';

const RULES = '/api/v1/admin/alert-notifications/push-rules';
const TEST = `${RULES}/test`;

let app: TestApp;
beforeAll(async () => {
  app = await sharedApp();
});
afterAll(() => app.close());

describe('push rules (F205, OP-186)', () => {
  it('are created with defaults, listed, changed in part and deleted', async () => {
    const { admin, adminId } = await app.newTenant();
    const made = await admin.post(RULES, { name: 'Everything' });
    const rule = {
      id: expect.any(String),
      name: 'Everything',
      isEnabled: true,
      severities: [],
      alertTypes: [],
      groupIds: [],
      scheduleId: null,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    };
    expect([made.status, made.body]).toEqual([201, rule]);
    expect((await admin.get(RULES)).body).toEqual({ rules: [made.body], total: 1 });
    const participants = [adminId];
    const schedule = await admin.post('/api/v1/admin/on-call/schedules', { name: 'Primary', participants });
    const scheduleId = schedule.body.id as string;
    const changed = await admin.put(`${RULES}/${made.body.id}`, { severities: ['critical'], scheduleId });
    expect([changed.status, changed.body]).toMatchObject([
      200,
      { severities: ['critical'], scheduleId, isEnabled: true },
    ]);
    expect((await admin.delete(`${RULES}/${made.body.id}`)).status).toBe(204);
    expect((await admin.get(RULES)).body).toEqual({ rules: [], total: 0 });
  });

  it('keeps a group that was deleted, and takes no other group that does not exist', async () => {
    const { admin, tenantId } = await app.newTenant();
    const groupId = (await admin.post('/api/v1/admin/groups', { name: 'Sales' })).body.id as string;
    const { id } = (await admin.post(RULES, { name: 'Sales', groupIds: [groupId] })).body;
    // As if the rule had been made while the group was being deleted.
    const by = { tenantId, actor: system('test') };
    orThrow(await app.services.executor.execute(deleteGroup, { groupId, by: null }, by));
    await app.settled();
    const kept = await admin.put(`${RULES}/${id}`, { name: 'Former sales', groupIds: [groupId] });
    expect([kept.status, kept.body.groupIds]).toEqual([200, [groupId]]);
    const refused = await admin.put(`${RULES}/${id}`, { groupIds: [groupId, randomUUID()] });
    expect([refused.status, refused.body.error, refused.body.fields?.[0]?.field]).toEqual([
      400,
      'validation failed: groupIds.1: is not the id of a group',
      'groupIds.1',
    ]);
  });

  it('name all that a rule refers to and that is not there', async () => {
    const { admin } = await app.newTenant();
    const { body } = await admin.post(RULES, {
      name: 'Nowhere',
      groupIds: [randomUUID(), randomUUID()],
      scheduleId: randomUUID(),
    });
    expect(body.fields?.map(({ field }: { field: string }) => field)).toEqual([
      'groupIds.0',
      'groupIds.1',
      'scheduleId',
    ]);
  });

  it.each([
    ['severities.0', { severities: ['severe'] }],
    ['alertTypes.0', { alertTypes: ['rumour'] }],
    ['groupIds.0', { groupIds: ['sales'] }],
    ['scheduleId', { scheduleId: 'primary' }],
    ['name', { name: ' ' }],
  ])('refuse a wrong %s', async (field, over) => {
    const { admin } = await app.newTenant();
    const { status, body } = await admin.post(RULES, { name: 'Wrong', ...over });
    expect([status, body.fields?.[0]?.field]).toEqual([400, field]);
  });

  it('are written by administrators, read by analysts, and not seen by viewers (OP-270)', async () => {
    const tenant = await app.newTenant();
    const analyst = (await app.adminWithRole(tenant, 'analyst')).client;
    const viewer = (await app.adminWithRole(tenant, 'viewer')).client;
    expect([(await analyst.get(RULES)).status, (await analyst.post(RULES, { name: 'x' })).status]).toEqual([200, 403]);
    expect((await viewer.get(RULES)).status).toBe(403);
  });
});

describe('the test of a push rule', () => {
  let tenant: TestTenant;
  let bo: Awaited<ReturnType<TestApp['adminWithRole']>>;
  let scheduleId: string;
  let critical: string;
  let high: string;
  beforeAll(async () => {
    tenant = await app.newTenant();
    bo = await app.adminWithRole(tenant, 'analyst');
    await app.settled();
    const day = new Date(Date.now() - 9 * 86_400_000).toISOString().slice(0, 10);
    const schedule = { name: 'Primary', participants: [bo.adminId], startDate: day };
    scheduleId = (await tenant.admin.post('/api/v1/admin/on-call/schedules', schedule)).body.id;
    await bo.client.post('/api/v1/admin/mobile/devices', { platform: 'ios', pushToken: randomUUID() });
    critical = await newAlert(app, tenant, { severity: 'critical' });
    high = await newAlert(app, tenant, { severity: 'high', alertType: 'breached_password' });
    await newAlert(app, tenant, { severity: 'low', alertType: 'weak_password' });
    await app.settled();
  });

  const tested = async (body: object, client = tenant.admin) => {
    const response = await client.post(TEST, body);
    return [response.status, response.body] as const;
  };
  const bosPush = () => [expect.objectContaining({ adminUserId: bo.adminId, devices: 1 })];

  it('lists the alerts that a rule would have sent, and to whom, newest first', async () => {
    const [status, body] = await tested({ rule: { severities: ['critical', 'high'], scheduleId } });
    expect([status, body]).toMatchObject([
      200,
      {
        total: 2,
        alerts: [
          { alertId: high, severity: 'high', recipients: bosPush(), withheld: [] },
          { alertId: critical, severity: 'critical', recipients: bosPush(), withheld: [] },
        ],
      },
    ]);
    expect(Date.parse(body.to) - Date.parse(body.from)).toBe(7 * 86_400_000);
  });

  it('says why somebody on call would not have got one', async () => {
    const [, body] = await tested({ rule: {} });
    expect(body.alerts[0]).toMatchObject({
      alertType: 'weak_password',
      recipients: [],
      withheld: [{ adminUserId: bo.adminId, reason: 'severity' }],
    });
    await bo.client.put('/api/v1/admin/mobile/preferences', { pushEnabled: false });
    const [, off] = await tested({ rule: { severities: ['critical'] } });
    expect(off.alerts[0]).toMatchObject({ recipients: [], withheld: [{ reason: 'push_off' }] });
    await bo.client.put('/api/v1/admin/mobile/preferences', { pushEnabled: true });
  });

  it('takes a saved rule by its id', async () => {
    const rule = { name: 'Critical', severities: ['critical'], isEnabled: false };
    const { id } = (await tenant.admin.post(RULES, rule)).body;
    expect(await tested({ ruleId: id })).toMatchObject([200, { total: 1, alerts: [{ recipients: bosPush() }] }]);
    expect((await tested({ ruleId: randomUUID() }))[0]).toBe(404);
  });

  it.each([
    ['rule', {}],
    ['rule', { ruleId: randomUUID(), rule: {} }],
    ['rule.severities.0', { rule: { severities: ['severe'] } }],
  ])('refuses a wrong %s', async (field, body) => {
    const [status, { fields }] = await tested(body);
    expect([status, fields?.[0]?.field]).toEqual([400, field]);
  });

  it('shows nothing of another tenant', async () => {
    const other = await app.newTenant();
    const { id } = (await tenant.admin.post(RULES, { name: 'Ours' })).body;
    expect((await tested({ ruleId: id }, other.admin))[0]).toBe(404);
    expect(await tested({ rule: { scheduleId } }, other.admin)).toMatchObject([200, { total: 0, alerts: [] }]);
  });
});
