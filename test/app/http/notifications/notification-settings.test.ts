import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { NOTIFICATIONS, webhookSecret } from '../../../dsl/notified.ts';

const SETTINGS = `${NOTIFICATIONS}/settings`;
const SERVER = { smtpHost: 'mail.acme.example', smtpUsername: 'castellan', smtpFrom: 'alerts@acme.example' };

describe('settings of alert notifications', () => {
  let app: TestApp;
  let tenant: TestTenant;
  beforeAll(async () => {
    app = await sharedApp();
    tenant = await app.newTenant();
  });
  afterAll(() => app.close());

  it('have defaults, and show no secret', async () => {
    const { body } = await tenant.admin.get(SETTINGS);
    expect(body).toEqual({
      emailEnabled: true,
      emailRecipients: [],
      minSeverity: 'low',
      alertTypes: [],
      smtpHost: null,
      smtpPort: 587,
      smtpSecurity: 'starttls',
      smtpUsername: null,
      smtpFrom: null,
      smtpPasswordConfigured: false,
      smtpAllowPrivateNetwork: false,
      smtpCaCertificate: null,
      webhookEnabled: false,
      webhookUrl: null,
      webhookSecretConfigured: false,
      webhookRotationEndsAt: null,
      webhookDisabled: null,
      webhookAllowPrivateNetwork: false,
      webhookCaCertificate: null,
      pushEnabled: false,
      updatedAt: null,
      updatedBy: null,
    });
  });

  it('change e-mail together with the flag of the tenant', async () => {
    const off = await tenant.admin.put(SETTINGS, { emailEnabled: false, emailRecipients: ['soc@acme.example'] });
    expect(off.body).toMatchObject({ emailEnabled: false, emailRecipients: ['soc@acme.example'] });
    expect((await tenant.admin.get('/api/v1/admin/settings')).body.alertEmailEnabled).toBe(false);
    await tenant.admin.put('/api/v1/admin/settings', { alertEmailEnabled: true });
    expect((await tenant.admin.get(SETTINGS)).body.emailEnabled).toBe(true);
  });

  it('keep a stored password for the server that it was given for', async () => {
    await tenant.admin.put(SETTINGS, SERVER);
    const stored = await tenant.admin.put(`${NOTIFICATIONS}/smtp-password`, { password: 'smtp-hush' });
    expect(stored.body).toEqual({ configured: true });
    for (const elsewhere of [{ smtpHost: 'evil.example' }, { smtpPort: 25 }, { smtpSecurity: 'none' }]) {
      const refused = await tenant.admin.put(SETTINGS, elsewhere);
      expect([refused.status, refused.body.code]).toEqual([400, 'secret_required_again']);
      expect(refused.body.fields[0].field).toBe('smtpPassword');
    }
    expect((await tenant.admin.put(SETTINGS, { smtpUsername: 'other' })).body.smtpPasswordConfigured).toBe(true);
    const moved = await tenant.admin.put(SETTINGS, { smtpPort: 465, smtpSecurity: 'tls', smtpPassword: 'again' });
    expect(moved.body).toMatchObject({ smtpPort: 465, smtpPasswordConfigured: true });
    const removed = await tenant.admin.put(SETTINGS, { smtpHost: 'other.example', smtpPassword: null });
    expect(removed.body).toMatchObject({ smtpHost: 'other.example', smtpPasswordConfigured: false });
    expect(JSON.stringify(removed.body)).not.toContain('hush');
  });

  it.each([
    ['webhookUrl', { webhookUrl: 'http://hooks.acme.example/' }],
    ['webhookUrl', { webhookUrl: 'https://user:pass@hooks.acme.example/' }],
    ['webhookUrl', { webhookUrl: 'https://127.0.0.1/' }],
    ['webhookUrl', { webhookUrl: 'https://169.254.169.254/latest' }],
    ['webhookUrl', { webhookUrl: 'https://0x7f.1/' }],
    ['webhookUrl', { webhookEnabled: true }],
    ['smtpHost', { smtpHost: '10.0.0.1', smtpPassword: null }],
    ['smtpUsername', { smtpUsername: 'a\r\nMAIL FROM:<x@y.z>' }],
    ['smtpFrom', { smtpFrom: 'a@acme.example\r\nBcc: x@y.z' }],
    ['emailRecipients.0', { emailRecipients: ['no address'] }],
    ['emailRecipients', { emailRecipients: ['a@acme.example', 'A@acme.example'] }],
    ['smtpPort', { smtpPort: 0 }],
    ['smtpSecurity', { smtpSecurity: 'ssl' }],
    ['minSeverity', { minSeverity: 'urgent' }],
    ['alertTypes.0', { alertTypes: ['unheard_of'] }],
  ])('refuse a wrong %s: %o', async (field, body) => {
    const before = (await tenant.admin.get(SETTINGS)).body;
    const { status, body: refusal } = await tenant.admin.put(SETTINGS, body);
    expect([status, refusal.fields?.[0]?.field]).toEqual([400, field]);
    expect((await tenant.admin.get(SETTINGS)).body).toEqual(before);
  });

  it('take only a secret of the specification, or a long text', async () => {
    for (const secret of ['short', 'whsec_not base64', `whsec_${Buffer.alloc(8).toString('base64')}`])
      expect((await tenant.admin.put(`${NOTIFICATIONS}/webhook-secret`, { secret })).status).toBe(400);
    const first = await tenant.admin.put(`${NOTIFICATIONS}/webhook-secret`, { secret: webhookSecret() });
    expect(first.body).toEqual({ configured: true, formerSecretUntil: null });
    expect((await tenant.admin.get(SETTINGS)).body.webhookSecretConfigured).toBe(true);
  });

  it('refuse a test of a webhook that is not configured', async () => {
    const other = await app.newTenant();
    const { status, body } = await other.admin.post(`${NOTIFICATIONS}/test-webhook`, {});
    expect([status, body.code, body.error, body.fields]).toEqual([
      400,
      'channel_not_configured',
      'not configured: webhookUrl, webhookSecret',
      [],
    ]);
  });
});
