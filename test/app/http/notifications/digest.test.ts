import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startApp, type TestApp, type TestTenant } from '../../../dsl/app.ts';
import { DELIVERIES, eventually, newAlert, NOTIFICATIONS, OTHER_ALERTS, sweepOutbox } from '../../../dsl/notified.ts';
import { SmtpPeer } from '../../../fixtures/smtp-peer.ts';

const MINUTE = 60_000;
const RECIPIENTS = ['team@acme.example', 'lead@acme.example'];
/** Messages that a recipient gets in an hour (OP-457). */
const USUAL = 20;
const STORM = 30;
const CRITICAL = 4;

describe('a storm of alerts', () => {
  let app: TestApp;
  let peer: SmtpPeer;
  let tenant: TestTenant;
  beforeAll(async () => {
    vi.useFakeTimers({ toFake: ['Date'], shouldAdvanceTime: true });
    app = await startApp({ devMode: true });
    peer = await SmtpPeer.start({ disabledCommands: ['STARTTLS'] });
    tenant = await app.newTenant();
    const { status } = await tenant.admin.put(`${NOTIFICATIONS}/settings`, {
      emailEnabled: true,
      alertTypes: OTHER_ALERTS,
      emailRecipients: RECIPIENTS,
      smtpHost: 'localhost',
      smtpPort: peer.port,
      smtpSecurity: 'none',
      smtpFrom: 'alerts@acme.example',
    });
    expect(status).toBe(200);
  });
  afterAll(async () => {
    await app.close();
    await peer.close();
    vi.useRealTimers();
  });

  const mailsTo = (address: string) => peer.received.filter(({ to }) => to.includes(address));
  const subjectsTo = (address: string) => mailsTo(address).map(({ parsed }) => parsed.subject ?? '');
  const isDigest = (subject: string) => subject.includes('more messages about alerts');
  const arrived = (count: number) =>
    eventually(() => (RECIPIENTS.every((address) => mailsTo(address).length >= count) ? true : undefined));

  it(
    'sends each recipient twenty messages, the critical ones, and one digest for the rest',
    { timeout: 90_000 },
    async () => {
      const alerts: string[] = [];
      for (let n = 0; n < STORM; n += 1) alerts.push(await newAlert(app, tenant, { title: `Alert ${n}` }));
      for (let n = 0; n < CRITICAL; n += 1)
        await newAlert(app, tenant, { severity: 'critical', title: `Critical ${n}` });
      await arrived(USUAL + CRITICAL);
      // Before the hour is over, the rest waits.
      vi.setSystemTime(Date.now() + 30 * MINUTE);
      await sweepOutbox(app);
      await app.settled();
      for (const address of RECIPIENTS) {
        expect(mailsTo(address)).toHaveLength(USUAL + CRITICAL);
        expect(subjectsTo(address).filter((subject) => subject.includes('Critical:'))).toHaveLength(CRITICAL);
      }

      vi.setSystemTime(Date.now() + 31 * MINUTE);
      await sweepOutbox(app);
      await arrived(USUAL + CRITICAL + 1);
      await sweepOutbox(app);
      await app.settled();
      for (const address of RECIPIENTS) {
        const [digest, ...others] = mailsTo(address).filter(({ parsed }) => isDigest(parsed.subject ?? ''));
        expect(others).toEqual([]);
        expect(digest!.parsed.subject).toBe(`[Castellan] ${STORM - USUAL} more messages about alerts`);
        expect(digest!.parsed.text).toMatch(new RegExp(`High:? +${STORM - USUAL}`));
        // It links the alerts that were held back, and only those.
        const told = new Set(
          mailsTo(address).flatMap(({ parsed }) => (parsed.references ? [String(parsed.references)] : [])),
        );
        const heldBack = alerts.filter((id) => !told.has(`<alert.${id}@acme.example>`));
        expect(heldBack).toHaveLength(STORM - USUAL);
        for (const id of alerts) expect([id, digest!.parsed.text!.includes(id)]).toEqual([id, heldBack.includes(id)]);
      }

      // The next hour begins with the next message.
      await newAlert(app, tenant, { title: 'After the storm' });
      await eventually(() => mailsTo(RECIPIENTS[0]!).find(({ parsed }) => parsed.subject?.includes('After the storm')));
      const { client } = await app.adminWithRole(tenant, 'admin');
      const held = await client.get(`${DELIVERIES}?state=held_back&page_size=100`);
      expect(held.body.total).toBe(RECIPIENTS.length * (STORM - USUAL));
      const { body } = await client.get(`${DELIVERIES}?channel=email&page_size=100`);
      expect(
        body.deliveries.filter(({ subject }: { subject: { kind: string } }) => subject.kind === 'digest'),
      ).toHaveLength(2);
    },
  );
});
