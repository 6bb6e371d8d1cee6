import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startApp, type Client, type TestApp, type TestTenant } from '../../../dsl/app.ts';

const BASE = '/api/v1/admin';
const RULES = `${BASE}/alert-notifications/push-rules`;
const COOKIES = `${BASE}/active-countermeasures/canary-cookies`;
const PREFERENCES = `${BASE}/mobile/preferences`;

/** OP-436 and OP-593. */
describe('whatever makes people hear of less', () => {
  let app: TestApp;
  let tenant: TestTenant;
  /** What a stolen access token can do. */
  let stolen: Client;
  beforeAll(async () => {
    app = await startApp();
  });
  beforeEach(async () => {
    tenant = await app.newTenant();
    stolen = app.as(tenant.token);
  });
  afterAll(() => app.close());

  const changes = async () => {
    await app.settled();
    const { body } = await tenant.admin.get(`${BASE}/alerts`);
    return (body.alerts as { metadata: { change?: string } }[]).map(({ metadata }) => metadata.change).toSorted();
  };
  /** Refused without a proof, and nothing is written; with one it raises this alert. */
  const expectWatched = async (change: string, send: (client: Client) => ReturnType<Client['put']>) => {
    const refused = await send(stolen);
    expect([refused.status, refused.body?.code]).toEqual([403, 'reauthentication_required']);
    const before = await changes();
    expect((await send(tenant.admin)).status).toBeLessThan(300);
    expect(await changes()).toEqual([...before, change].toSorted());
  };

  it('push rules: deleted, switched off or narrowed', async () => {
    const made = async (rule: object) => `${RULES}/${(await tenant.admin.post(RULES, rule)).body.id}`;
    const all = await made({ name: 'All' });
    expect((await stolen.put(all, { name: 'Everything' })).status).toBe(200);
    await expectWatched('push_rule_silenced', (client) => client.put(all, { severities: ['critical'] }));
    expect((await stolen.put(all, { severities: ['critical', 'high'] })).status).toBe(200);
    await expectWatched('push_rule_silenced', (client) => client.put(all, { isEnabled: false }));
    // It calls nobody: nothing is lost with it.
    expect((await stolen.delete(all)).status).toBe(204);
    const other = await made({ name: 'Other', alertTypes: ['phishing_detected'] });
    await expectWatched('push_rule_silenced', (client) => client.delete(other));
  });

  it('settings of the tenant: e-mail about alerts and the check for breached passwords', async () => {
    const path = `${BASE}/settings`;
    expect((await stolen.put(path, { timezone: 'Europe/Berlin' })).status).toBe(200);
    await expectWatched('alert_email_switched_off', (client) => client.put(path, { alertEmailEnabled: false }));
    await expectWatched('tenant_settings_silenced', (client) => client.put(path, { breachCheckEnabled: false }));
    await expectWatched('tenant_settings_silenced', (client) => client.put(path, { staleDeviceDays: 8 }));
    const back = { alertEmailEnabled: true, breachCheckEnabled: true, staleDeviceDays: 7 };
    expect((await stolen.put(path, back)).status).toBe(200);
    expect((await tenant.admin.get(path)).body).not.toHaveProperty('isSilenced');
  });

  it('the mode in which browsers only look on raises an alert, without a proof', async () => {
    const path = `${BASE}/settings`;
    for (const extensionMode of ['warn', 'block', 'warn']) await tenant.admin.put(path, { extensionMode });
    expect(await changes()).toEqual([]);
    expect((await stolen.put(path, { extensionMode: 'learning' })).status).toBe(200);
    expect(await changes()).toEqual(['extension_mode_lowered']);
  });

  it('severities of alerts', async () => {
    const path = `${BASE}/settings/alert-severity`;
    expect((await stolen.put(path, { severities: { policy_violation: 'critical' } })).status).toBe(200);
    await expectWatched('alert_severities_lowered', (client) =>
      client.put(path, { severities: { policy_violation: 'low', weak_password: 'high' } }),
    );
  });

  it('alerts about extensions', async () => {
    const path = `${BASE}/extension-monitoring/settings`;
    expect((await stolen.put(path, { alertOnUnwhitelisted: true, alertSeverity: 'high' })).status).toBe(200);
    for (const change of [{ alertSeverity: null }, { alertOnUnwhitelisted: false }, { enabled: false }])
      await expectWatched('extension_monitoring_settings_silenced', (client) => client.put(path, change));
    expect((await stolen.put(path, { enabled: true })).status).toBe(200);
  });

  it('canary cookies', async () => {
    const { body } = await tenant.admin.post(COOKIES, { name: 'sid', domain: 'acme.example' });
    const one = `${COOKIES}/${body.id}`;
    expect((await stolen.put(one, { description: 'planted in spring' })).status).toBe(200);
    await expectWatched('canary_cookie_silenced', (client) => client.put(one, { domain: 'nobody.example' }));
    await expectWatched('canary_cookie_silenced', (client) => client.delete(one));
  });

  it("a person's pushes: off, too severe, of other types, or in quiet hours that last all day", async () => {
    expect((await stolen.put(PREFERENCES, { quietHours: { enabled: true } })).status).toBe(200);
    for (const change of [
      { pushEnabled: false },
      { minSeverity: 'critical' },
      { alertTypes: ['weak_password'] },
      { quietHours: { start: '00:00', end: '00:00' } },
      { quietHours: { start: '07:00', end: '06:59' } },
    ]) {
      await expectWatched('mobile_pushes_silenced', (client) => client.put(PREFERENCES, change));
      const back = {
        pushEnabled: true,
        minSeverity: 'high',
        alertTypes: [],
        quietHours: { start: '22:00', end: '07:00' },
      };
      expect((await stolen.put(PREFERENCES, back)).status).toBe(200);
    }
  });

  it('many enrollment tokens, or ones that live long, raise an alert', async () => {
    const path = `${BASE}/enrollment`;
    await tenant.admin.post(`${path}/token`, {});
    expect(await changes()).toEqual([]);
    await tenant.admin.post(`${path}/token`, { expiresInDays: 365 });
    expect(await changes()).toEqual(['enrollment_token_lasts']);
    await tenant.admin.post(`${path}/bulk-config`, { count: 60 });
    expect(await changes()).toEqual(['enrollment_token_lasts', 'enrollment_tokens_issued']);
  });

  it('many enrollment tokens that live long need a proof, and a closed alert about them is raised again', async () => {
    const path = `${BASE}/enrollment`;
    const many = { count: 100, expiresInDays: 365 };
    const refused = await stolen.post(`${path}/bulk-config`, many);
    expect([refused.status, refused.body.code]).toEqual([403, 'reauthentication_required']);
    expect((await tenant.admin.get(`${path}/tokens`)).body.tokens).toEqual([]);
    expect((await tenant.admin.post(`${path}/bulk-config`, many)).status).toBe(200);
    expect((await stolen.post(`${path}/bulk-config`, { count: 100 })).status).toBe(200);
    expect((await stolen.post(`${path}/bulk-config`, { count: 1, expiresInDays: 365 })).status).toBe(200);
    const before = await changes();
    const { body } = await tenant.admin.get(`${BASE}/alerts`);
    for (const { id } of body.alerts as { id: string }[])
      expect((await stolen.put(`${BASE}/alerts/${id}/resolve`, { status: 'resolved' })).status).toBe(200);
    await app.settled();
    expect((await stolen.post(`${path}/token`, { expiresInDays: 365 })).status).toBe(201);
    expect(await changes()).toEqual([...before, 'enrollment_token_lasts'].toSorted());
  });
});
