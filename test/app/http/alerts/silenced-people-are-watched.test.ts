import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startApp, type Client, type TestApp, type TestTenant } from '../../../dsl/app.ts';

const SETTINGS = '/api/v1/admin/alert-notifications/settings';
const BY_ROLE = '/api/v1/admin/settings/mobile-access-by-role';
const ON_CALL = '/api/v1/admin/on-call';

describe('whoever no longer hears of alerts', () => {
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
    const { body } = await tenant.admin.get('/api/v1/admin/alerts');
    return (body.alerts as { metadata: { change?: string } }[]).map(({ metadata }) => metadata.change);
  };

  it('loses mobile access only with a proof, and an alert says so', async () => {
    const lost = { mobileAccess: { analyst: false } };
    expect((await stolen.put(BY_ROLE, lost)).status).toBe(403);
    expect((await stolen.put(BY_ROLE, { mobileAccess: { executive: true } })).status).toBe(200);
    expect(await changes()).toEqual([]);
    expect((await tenant.admin.put(BY_ROLE, lost)).status).toBe(200);
    expect(await changes()).toEqual(['mobile_access_taken']);
    const { client: lesser } = await app.adminWithRole(tenant, 'admin');
    expect((await lesser.put(BY_ROLE, { mobileAccess: { super_admin: false } })).status).toBe(403);
  });

  it('is taken out of an on-call schedule only with a proof', async () => {
    const { body: me } = await tenant.admin.get('/api/v1/admin/me');
    const participants = [me.id];
    const night = { name: 'Night', startDate: '2026-01-05', participants };
    const { body: schedule } = await tenant.admin.post(`${ON_CALL}/schedules`, night);
    const path = `${ON_CALL}/schedules/${schedule.id}`;
    expect((await stolen.put(path, { name: 'Day' })).status).toBe(200);
    expect((await stolen.put(path, { isEnabled: false })).status).toBe(403);
    expect((await stolen.put(path, { startDate: '2099-01-01' })).status).toBe(403);
    // One person takes all turns, whenever they begin.
    const free = { handoffTime: '10:00', rotationType: 'daily', escalationMinutes: 30, escalationRounds: 2 };
    expect((await stolen.put(path, free)).status).toBe(200);
    for (const fewer of [{ escalationMinutes: null }, { escalationMinutes: 31 }, { escalationRounds: 1 }])
      expect([fewer, (await stolen.put(path, fewer)).body.code]).toEqual([fewer, 'reauthentication_required']);
    expect((await stolen.delete(path)).status).toBe(403);
    const days = (from: number, to: number) => ({
      scheduleId: schedule.id,
      adminUserId: me.id,
      startsAt: new Date(Date.now() + from * 86_400_000).toISOString(),
      endsAt: new Date(Date.now() + to * 86_400_000).toISOString(),
    });
    expect((await stolen.post(`${ON_CALL}/overrides`, days(1, 366))).status).toBe(403);
    expect((await stolen.post(`${ON_CALL}/overrides`, days(1, 7))).status).toBe(201);
    expect((await stolen.post(`${ON_CALL}/overrides`, days(8, 14))).status).toBe(403);
    expect(await changes()).toEqual([]);
    expect((await tenant.admin.put(path, { isEnabled: false })).status).toBe(200);
    expect(await changes()).toEqual(['on_call_schedule_silenced']);
  });

  it('gets no e-mail any more only with a proof', async () => {
    const mail = { smtpHost: 'mail.acme.example', smtpUsername: 'castellan', smtpFrom: 'a@acme.example' };
    await tenant.admin.put(SETTINGS, { ...mail, emailRecipients: ['ann@acme.example'] });
    for (const silencing of [{ emailEnabled: false }, { smtpUsername: null }, { smtpFrom: 'b@acme.example' }])
      expect([silencing, (await stolen.put(SETTINGS, silencing)).status]).toEqual([silencing, 403]);
  });

  it('stores no placeholder as the password of a mail server', async () => {
    const moved = { smtpHost: 'mail.elsewhere.example', smtpPassword: '[concealed]' };
    expect((await tenant.admin.put(SETTINGS, moved)).status).toBe(400);
  });

  it('reads another index of a destination only with a proof', async () => {
    const { status, body } = await tenant.admin.post('/api/v1/admin/integrations/log-destinations', {
      type: 'elasticsearch',
      name: 'Search',
      config: { url: 'https://search.example/', index: 'security', apiKey: 'key' },
    });
    expect(status).toBe(201);
    const path = `/api/v1/admin/integrations/log-destinations/${body.id}`;
    expect((await stolen.put(path, { config: { index: 'nobody-reads-it' } })).status).toBe(403);
  });
});
