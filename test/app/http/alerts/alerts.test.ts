import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { raiseAlert } from '../../../../commands/alerts/raise-alert.ts';
import { alertView } from '../../../../queries/alerts/alert-view.ts';
import { system } from '../../../../src/platform/kernel/actor.ts';
import { orThrow } from '../../../../src/platform/kernel/failure.ts';
import { sharedApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';

describe('alerts over HTTP', () => {
  let app: TestApp;
  let tenant: TestTenant;
  beforeAll(async () => {
    app = await sharedApp();
    tenant = await app.newTenant();
  });
  afterAll(() => app.close());

  async function raise(over: object = {}, { tenantId } = tenant): Promise<string> {
    const alertId = randomUUID();
    const input = {
      alertId,
      alertType: 'password_reuse' as const,
      title: 'Password reuse',
      description: 'The same password on two sites',
      fingerprint: alertId,
      userId: null,
      deviceId: null,
      domain: 'shop.example.com',
      url: null,
      cause: alertId,
      metadata: {},
      ...over,
    };
    const { position } = orThrow(
      await app.services.executor.execute(raiseAlert, input, { tenantId, actor: system('test') }),
    );
    await app.services.freshness.waitFor(['alerts'], position!, 10_000);
    return alertId;
  }
  const path = (id: string, verb = '') => `/api/v1/admin/alerts/${id}${verb && `/${verb}`}`;

  it('go through the whole triage, and each response shows the decision', async () => {
    const id = await raise();
    const { admin } = tenant;
    const acknowledged = await admin.put(path(id, 'acknowledge'), { notes: 'looking' });
    expect(alertView.parse(acknowledged.body)).toMatchObject({
      status: 'acknowledged',
      notes: 'looking',
      acknowledgedBy: tenant.adminId,
    });
    expect(acknowledged.headers.get('x-log-position')).toMatch(/^\d+$/);
    expect((await admin.put(path(id, 'claim'))).body).toMatchObject({
      assignedTo: tenant.adminId,
      assignedToName: 'Owner',
    });
    expect((await admin.put(path(id, 'severity'), { severity: 'high' })).body.severity).toBe('high');
    expect((await admin.put(path(id, 'resolve'), { status: 'resolved', resolution: 'done' })).body).toMatchObject({
      status: 'resolved',
      resolution: 'done',
    });
    expect((await admin.put(path(id, 'policy-action'), { action: 'skipped' })).body.policyAction).toMatchObject({
      action: 'skipped',
      policyId: null,
    });
    expect((await admin.put(path(id, 'resolve'), { status: 'false_positive' })).body.status).toBe('false_positive');
    expect((await admin.put(path(id, 'policy-action'), { action: 'skipped' })).status).toBe(409);
    expect((await admin.put(path(id, 'reopen'))).body).toMatchObject({
      status: 'open',
      resolution: null,
      acknowledgedAt: null,
      policyAction: null,
      notes: 'looking',
    });
    expect((await admin.put(path(id, 'assign'), { assigneeId: null })).body.assignedTo).toBeNull();
    expect((await admin.put(path(id, 'assign'), { assigneeId: randomUUID() })).status).toBe(400);
  });

  it('let exactly one of two admins claim an alert', async () => {
    const id = await raise();
    const { client } = await app.adminWithRole(tenant, 'analyst');
    const statuses = await Promise.all(
      Array.from({ length: 20 }, (_, n) => (n % 2 ? client : tenant.admin).put(path(id, 'claim'))),
    );
    const winners = new Set(statuses.filter(({ status }) => status === 200).map(({ body }) => body.assignedTo));
    expect(winners.size).toBe(1);
    expect(statuses.filter(({ status }) => status === 409)).toHaveLength(10);
  });

  it('are filtered and paged, with counts that match the list', async () => {
    const own = await app.newTenant();
    for (let n = 0; n < 5; n += 1) await raise({ alertType: n < 2 ? 'breached_password' : 'password_reuse' }, own);
    const list = async (query: string) => (await own.admin.get(`/api/v1/admin/alerts?${query}`)).body;
    expect(await list('page_size=2&page=2')).toMatchObject({ total: 5, page: 2, pageSize: 2, totalPages: 3 });
    expect((await list('alert_type=breached_password')).total).toBe(2);
    expect((await list('severity=high&status=open')).total).toBe(2);
    expect(await list('status=resolved')).toMatchObject({ alerts: [], total: 0, totalPages: 0 });
    expect((await list('start_date=2020-01-01&end_date=2020-12-31')).total).toBe(0);
    expect(await list('page=99')).toMatchObject({ alerts: [], total: 5 });
    expect((await list('page_size=1000')).pageSize).toBe(100);
    expect((await list('page_size=100000000000000')).pageSize).toBe(100);
    const twice = await tenant.admin.get('/api/v1/admin/alerts?page=1&page=2&page_size=x');
    expect([twice.status, twice.body.fields]).toEqual([
      400,
      [
        { field: 'page', message: 'must be given once' },
        { field: 'page_size', message: 'must be a whole number of at least 1' },
      ],
    ]);
    for (const bad of [
      'page=0',
      'page_size=x',
      'status=closed',
      'start_date=yesterday',
      'start_date=2026-02-01&end_date=2026-01-01',
    ]) {
      expect([bad, (await own.admin.get(`/api/v1/admin/alerts?${bad}`)).status]).toEqual([bad, 400]);
    }
    const { body: stats } = await own.admin.get('/api/v1/admin/alerts/stats');
    expect(stats).toMatchObject({
      total: 5,
      open: 5,
      unassigned: 5,
      bySeverity: { high: 2, medium: 3, low: 0 },
      byType: { breached_password: 2, mfa_missing: 0 },
    });
  });

  it('are related by domain, with the reason', async () => {
    const own = await app.newTenant();
    const [one, two] = [await raise({ domain: 'a.example' }, own), await raise({ domain: 'a.example' }, own)];
    await raise({ domain: 'b.example' }, own);
    const { body } = await own.admin.get(path(one, 'related'));
    expect(body.alerts.map(({ id, reasons }: { id: string; reasons: string[] }) => [id, reasons])).toEqual([
      [two, ['domain']],
    ]);
  });

  it('replay the first response of a repeated command, and reject another command with the same key', async () => {
    const send = (body: object) =>
      tenant.admin.post('/api/v1/admin/users', body, { headers: { 'idempotency-key': 'key-1' } });
    const body = { email: `once-${randomUUID()}@acme.example`, displayName: 'Once' };
    const first = await send(body);
    const second = await send(body);
    expect([first.status, second.status, second.body, second.headers.get('idempotent-replayed')]).toEqual([
      201,
      201,
      first.body,
      'true',
    ]);
    expect((await send({ ...body, displayName: 'Twice' })).status).toBe(409);
  });
});
