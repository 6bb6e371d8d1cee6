import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type Client, type TestApp, type TestTenant } from '../../../dsl/app.ts';

const DESTINATIONS = '/api/v1/admin/integrations/log-destinations';
const SETTINGS = '/api/v1/admin/alert-notifications/settings';
const HOOK = 'https://hooks.example/services/T0/B0/CAPABILITY?key=QUERY';

describe('where data of a tenant is sent', () => {
  let app: TestApp;
  let tenant: TestTenant;
  /** What a stolen access token can do. */
  let stolen: Client;
  beforeAll(async () => {
    app = await startApp();
    tenant = await app.newTenant();
    stolen = app.as(tenant.token);
  });
  afterAll(() => app.close());

  const destination = {
    type: 'webhook',
    name: 'SIEM',
    config: { url: HOOK, headers: { 'X-Api-Key': 'HEADER-VALUE' } },
  };

  it('changes only with a fresh proof; what leads nowhere else and silences no watch needs none', async () => {
    expect((await stolen.post(DESTINATIONS, destination)).status).toBe(403);
    const { body } = await tenant.admin.post(DESTINATIONS, destination);
    const path = `${DESTINATIONS}/${body.id}`;
    const elsewhere = { url: 'https://elsewhere.example/', headers: { 'X-Api-Key': 'other' } };
    expect((await stolen.put(path, { config: elsewhere })).status).toBe(403);
    expect((await stolen.put(path, { config: { headers: { 'X-Api-Key': 'other' } } })).status).toBe(403);
    for (const harmless of [
      { isEnabled: true },
      { eventTypes: ['alert', 'audit', 'navigation'] },
      { name: 'Log' },
      { config: { payload: 'array' } },
    ])
      expect([harmless, (await stolen.put(path, harmless)).status]).toEqual([harmless, 200]);

    const mail = { emailRecipients: ['ann@acme.example', 'bo@acme.example'], smtpHost: 'mail.acme.example' };
    for (const outward of [mail, { webhookUrl: HOOK }, { smtpHost: 'mail.elsewhere.example' }])
      expect([outward, (await stolen.put(SETTINGS, outward)).status]).toEqual([outward, 403]);
    expect((await tenant.admin.put(SETTINGS, { ...mail, webhookUrl: HOOK })).status).toBe(200);
    for (const harmless of [
      { minSeverity: 'high' },
      { alertTypes: ['phishing_detected'] },
      { pushEnabled: true },
      { emailRecipients: ['bo@acme.example'] },
      { webhookUrl: HOOK },
      { webhookUrl: null },
    ])
      expect([harmless, (await stolen.put(SETTINGS, harmless)).status]).toEqual([harmless, 200]);
  });

  it('raises an alert when it changes, and none otherwise', async () => {
    const other = await app.newTenant();
    const changes = async () => {
      await app.settled();
      const { body } = await other.admin.get('/api/v1/admin/alerts');
      return (body.alerts as { metadata: { change?: string } }[]).map(({ metadata }) => metadata.change).toSorted();
    };
    const { body } = await other.admin.post(DESTINATIONS, destination);
    await other.admin.put(`${DESTINATIONS}/${body.id}`, { name: 'Log' });
    await other.admin.put(SETTINGS, { minSeverity: 'high' });
    expect(await changes()).toEqual(['log_destination_added', 'notifications_narrowed']);
    await other.admin.put(`${DESTINATIONS}/${body.id}`, { config: { url: 'https://elsewhere.example/', headers: {} } });
    await other.admin.put(SETTINGS, { emailRecipients: ['ann@acme.example'] });
    expect(await changes()).toEqual([
      'log_destination_added',
      'log_destination_moved',
      'notifications_moved',
      'notifications_narrowed',
    ]);
  });

  it('shows the secrets in its addresses and headers to nobody who reads the audit log', async () => {
    const other = await app.newTenant();
    await other.admin.post(DESTINATIONS, destination);
    await other.admin.put(SETTINGS, { webhookUrl: HOOK });
    await app.settled();
    const { client: analyst } = await app.adminWithRole(other, 'analyst');
    const read = [
      await other.admin.get('/api/v1/admin/audit-log?page_size=100'),
      await other.admin.get('/api/v1/admin/audit-log/export'),
      await analyst.get(SETTINGS),
    ];
    for (const { status, text } of read) {
      expect(status).toBe(200);
      expect(text).toContain('https://hooks.example/[concealed]');
      expect(text).not.toMatch(/CAPABILITY|QUERY|HEADER-VALUE/);
    }
    expect(read[0]!.text).toContain('X-Api-Key');
    expect((await other.admin.get(SETTINGS)).body.webhookUrl).toBe(HOOK);
  });
});
