import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { DELIVERIES, deliveryWhere, eventually, newAlert, NOTIFICATIONS, OTHER_ALERTS } from '../../../dsl/notified.ts';
import { issueServerCertificate } from '../../../../src/platform/pki/server-certificate.ts';
import { SMTP_PASSWORD, SMTP_USER, SmtpPeer } from '../../../fixtures/smtp-peer.ts';

const TEST = `${NOTIFICATIONS}/test-email`;
const certificate = issueServerCertificate({
  hostNames: ['localhost'],
  ipAddresses: [],
  now: Date.now(),
  days: 2,
});

describe('e-mail', () => {
  let app: TestApp;
  const peers: SmtpPeer[] = [];
  const newPeer = async () => {
    const peer = await SmtpPeer.start({ key: certificate.privateKeyPem, cert: certificate.certificatePem });
    peers.push(peer);
    return peer;
  };
  beforeAll(async () => {
    app = await startApp({ devMode: true });
  });
  afterAll(async () => {
    await app.close();
    await Promise.all(peers.map((peer) => peer.close()));
  });

  const withEmail = async (peer: SmtpPeer, over: object = {}): Promise<TestTenant> => {
    const tenant = await app.newTenant();
    const settings = {
      emailEnabled: true,
      alertTypes: OTHER_ALERTS,
      emailRecipients: ['team@acme.example'],
      smtpHost: 'localhost',
      smtpPort: peer.port,
      smtpSecurity: 'starttls',
      smtpUsername: SMTP_USER,
      smtpPassword: SMTP_PASSWORD,
      smtpFrom: 'alerts@acme.example',
      smtpCaCertificate: certificate.certificatePem,
      ...over,
    };
    const { status, body } = await tenant.admin.put(`${NOTIFICATIONS}/settings`, settings);
    expect([status, body.error]).toEqual([200, undefined]);
    return tenant;
  };
  const subjects = (peer: SmtpPeer) => peer.received.map(({ parsed }) => parsed.subject);

  it('tells the recipients of a new alert and of decisions about it, in one thread', async () => {
    const peer = await newPeer();
    const tenant = await withEmail(peer, { emailRecipients: ['team@acme.example', 'lead@acme.example'] });
    const alertId = await newAlert(app, tenant);
    await eventually(() => peer.received[1]);
    expect(peer.received.flatMap(({ to }) => to).toSorted()).toEqual(['lead@acme.example', 'team@acme.example']);
    await tenant.admin.put(`/api/v1/admin/alerts/${alertId}/acknowledge`, {});
    await eventually(() => peer.received[3]);
    expect(subjects(peer)).toEqual([
      '[Castellan] High: A phishing page was blocked',
      '[Castellan] High: A phishing page was blocked',
      'Re: [Castellan] High: A phishing page was blocked',
      'Re: [Castellan] High: A phishing page was blocked',
    ]);
    const threads = new Set(peer.received.map(({ parsed }) => parsed.references));
    expect(threads).toEqual(new Set([`<alert.${alertId}@acme.example>`]));
    expect(peer.received[0]!.parsed.text).toContain(`https://castellan.example/alerts/${alertId}`);
    expect(peer.received.every(({ isSecure, user }) => isSecure && user === SMTP_USER)).toBe(true);
  });

  it('says nothing of alerts below the severity of the settings, of other types, or while it is off', async () => {
    const peer = await newPeer();
    const tenant = await withEmail(peer, { minSeverity: 'high', alertTypes: ['phishing_detected'] });
    await newAlert(app, tenant, { severity: 'medium' });
    await newAlert(app, tenant, { alertType: 'weak_password' });
    await tenant.admin.put(`${NOTIFICATIONS}/settings`, { emailEnabled: false });
    await newAlert(app, tenant);
    await app.settled();
    await tenant.admin.put(`${NOTIFICATIONS}/settings`, { emailEnabled: true });
    await newAlert(app, tenant, { title: 'The only one' });
    await eventually(() => peer.received[0]);
    expect(subjects(peer)).toEqual(['[Castellan] High: The only one']);
    expect((await tenant.admin.get(DELIVERIES)).body.total).toBe(1);
  });

  it(
    'is tried again after greylisting, with the same Message-ID, and a refusal is final',
    { timeout: 30_000 },
    async () => {
      const peer = await newPeer();
      peer.refusals.push({ at: 'recipient', code: 450 });
      const tenant = await withEmail(peer);
      await newAlert(app, tenant);
      const delivered = await deliveryWhere(tenant, ({ state }) => state === 'delivered');
      const { body } = await tenant.admin.get(`${DELIVERIES}/${delivered.id}`);
      expect(body.attempts).toMatchObject([
        { outcome: 'deferred', response: 'the mail server asks to try the recipient later (450)' },
        { outcome: 'accepted', response: 'accepted by the mail server' },
      ]);
      expect(peer.received.map(({ parsed }) => parsed.messageId)).toEqual([`<${delivered.messageId}@acme.example>`]);

      peer.refusals.push({ at: 'recipient', code: 550 });
      await newAlert(app, tenant);
      await deliveryWhere(tenant, ({ state }) => state === 'refused');
      expect(peer.received).toHaveLength(1);
    },
  );

  it('holds back a storm: twenty messages an hour, then critical ones only', { timeout: 60_000 }, async () => {
    const peer = await newPeer();
    const tenant = await withEmail(peer);
    for (let n = 0; n < 25; n += 1) await newAlert(app, tenant, { title: `Alert ${n}` });
    await newAlert(app, tenant, { severity: 'critical', title: 'Critical one' });
    await eventually(() => peer.received.find(({ parsed }) => parsed.subject?.includes('Critical one')));
    await deliveryWhere(tenant, ({ state }) => state === 'held_back');
    await eventually(() => peer.received[20]);
    await app.settled();
    expect(peer.received).toHaveLength(21);
  });

  describe('its test (OP-183)', () => {
    it('is sent at once, to the given address, the first recipient, or the caller', async () => {
      const peer = await newPeer();
      const tenant = await withEmail(peer, { emailEnabled: false });
      const sent = await tenant.admin.post(TEST, { to: 'me@acme.example' });
      expect([sent.status, sent.body]).toEqual([
        200,
        { success: true, message: 'accepted by the mail server', deliveryId: expect.any(String) },
      ]);
      expect((await tenant.admin.post(TEST)).body.success).toBe(true);
      await tenant.admin.put(`${NOTIFICATIONS}/settings`, { emailRecipients: [] });
      expect((await tenant.admin.post(TEST, {})).body.success).toBe(true);
      const own = (await tenant.admin.get('/api/v1/admin/me')).body.email;
      expect(peer.received.map(({ to }) => to)).toEqual([['me@acme.example'], ['team@acme.example'], [own]]);
      expect(subjects(peer)).toEqual(Array.from({ length: 3 }, () => '[Castellan] Test message'));
    });

    it('says in our words why it failed', async () => {
      const peer = await newPeer();
      const tenant = await withEmail(peer, { smtpPassword: 'a wrong password' });
      const { status, body } = await tenant.admin.post(TEST);
      expect([status, body]).toMatchObject([
        200,
        { success: false, message: 'the mail server does not accept the user name and password (535)' },
      ]);
      await tenant.admin.put(`${NOTIFICATIONS}/settings`, { smtpPassword: null });
      expect((await tenant.admin.post(TEST)).body).toMatchObject({
        success: false,
        message: 'the password of the mail server is not set',
      });
    });

    it('is a 400 without a mail server or a sender, or for an address that is none', async () => {
      const { admin } = await app.newTenant();
      const refused = async (body?: object) => {
        const { status, body: said } = await admin.post(TEST, body);
        return [status, said.code, said.error, said.fields.map(({ field }: { field: string }) => field)];
      };
      expect(await refused()).toEqual([400, 'channel_not_configured', expect.stringContaining('smtpHost'), []]);
      await admin.put(`${NOTIFICATIONS}/settings`, { smtpHost: 'mail.example' });
      expect(await refused()).toEqual([400, 'channel_not_configured', expect.not.stringContaining('smtpHost'), []]);
      const [status, , , fields] = await refused({ to: 'me@acme.example\r\nRCPT TO:<x@y.example>' });
      expect([status, fields]).toEqual([400, ['to']]);
    });
  });
});

describe('a mail server in a private network', () => {
  it('is not stored unless the operator and the settings allow it', async () => {
    const app = await startApp();
    try {
      const { admin } = await app.newTenant();
      const refused = await admin.put(`${NOTIFICATIONS}/settings`, { smtpHost: 'localhost' });
      expect([refused.status, refused.body.fields?.[0]?.field]).toEqual([400, 'smtpHost']);
    } finally {
      await app.close();
    }
  });
});
