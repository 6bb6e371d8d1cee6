import { describe, expect, it } from 'vitest';
import type { AlertDocument } from '../../../src/contexts/notifications/alert-document.ts';
import type { OutboundMessage } from '../../../src/contexts/notifications/channel.ts';
import type { MessageSubject } from '../../../src/contexts/notifications/domain/message.ts';
import { composeEmail } from '../../../src/contexts/notifications/email/email-message.ts';
import { sendMail, type Mail } from '../../../src/contexts/notifications/email/smtp-sender.ts';
import { guardedConnect } from '../../../src/platform/outbound/guarded-connection.ts';
import { asTenantId } from '../../../src/platform/kernel/ids.ts';
import { SmtpPeer, type ReceivedMail } from '../../fixtures/smtp-peer.ts';

const alertId = '0198a000-0000-7000-8000-000000000001';
const eventId = '0198a000-0000-7000-8000-000000000002';
const occurredAt = '2026-06-01T12:00:00.000Z';
const alert: AlertDocument = {
  id: alertId,
  alertType: 'phishing_detected',
  severity: 'critical',
  status: 'open',
  title: 'A password was entered on evil.example',
  description: 'Seen on evil.example/login',
  domain: 'evil.example',
  userId: null,
  deviceId: null,
  assignedTo: null,
  occurrenceCount: 3,
  metadata: {},
  acknowledgedAt: null,
  resolution: null,
  resolvedAt: null,
  createdAt: occurredAt,
  updatedAt: occurredAt,
};
const about = (change: 'created' | 'updated'): MessageSubject => ({
  kind: 'alert',
  alertId,
  eventId,
  change,
  severity: 'critical',
  occurredAt,
});
const message = (subject: MessageSubject, over: Partial<OutboundMessage> = {}): OutboundMessage => ({
  tenantId: asTenantId('11111111-1111-4111-8111-111111111111'),
  deliveryId: eventId,
  messageId: '0198a000-0000-7000-8000-000000000003',
  attempt: 1,
  recipient: { kind: 'email', address: 'ann@acme.example' },
  subject,
  alert,
  replayId: null,
  ...over,
});
const context = { from: 'alerts@acme.example', to: 'ann@acme.example', baseUrl: 'https://castellan.acme.example/' };
const LINK = `https://castellan.acme.example/alerts/${alertId}`;
const composed = (subject: MessageSubject, over: Partial<OutboundMessage> = {}): Mail =>
  composeEmail(message(subject, over), context)!;

/** As a mail server of another make gets it, read by a parser of another make. */
async function received(mail: Mail): Promise<ReceivedMail> {
  const peer = await SmtpPeer.start({ disabledCommands: ['STARTTLS'] });
  try {
    const server = { host: '127.0.0.1', port: peer.port, security: 'none', login: null, caCertificate: null } as const;
    const connect = guardedConnect({ allowPrivate: true });
    expect(await sendMail(server, mail, connect, new AbortController().signal)).toMatchObject({ kind: 'accepted' });
    return peer.received[0]!;
  } finally {
    await peer.close();
  }
}
const headersOf = ({ parsed }: ReceivedMail, name: string) =>
  parsed.headers.filter(({ key }) => key === name).map(({ value }) => value);

describe('an e-mail about an alert', () => {
  it('says in text and HTML what happened, and links to the alert', async () => {
    const { parsed, raw } = await received(composed(about('created')));
    expect(parsed.subject).toBe('[Castellan] Critical: A password was entered on evil[.]example');
    expect(parsed.from).toMatchObject({ name: 'Castellan', address: 'alerts@acme.example' });
    for (const body of [parsed.text!, parsed.html!]) {
      expect(body).toContain('A password was entered on evil[.]example');
      expect(body).toContain('Seen on evil[.]example/login');
      expect(body).toContain('phishing detected');
      expect(body).toContain(LINK);
    }
    expect(parsed.html).not.toMatch(/<img|<script|url\(|src=/);
    // RFC 5322 §2.1.1.
    expect(Math.max(...raw.split('\r\n').map((line) => line.length))).toBeLessThanOrEqual(998);
  });

  it('is marked as sent by a program, and a critical one as urgent', async () => {
    const mail = await received(composed(about('created')));
    expect(headersOf(mail, 'auto-submitted')).toEqual(['auto-generated']);
    expect(headersOf(mail, 'importance')).toEqual(['High']);
    const calm = await received(composed(about('created'), { alert: { ...alert, severity: 'low' } }));
    expect(headersOf(calm, 'importance')).toEqual([]);
  });

  it('is in one thread with the later ones, each with an id of its own that stays the same', async () => {
    const [first, later] = [
      await received(composed(about('created'))),
      await received(composed(about('updated'), { messageId: '0198a000-0000-7000-8000-000000000004' })),
    ];
    expect(first.parsed.messageId).toBe('<0198a000-0000-7000-8000-000000000003@acme.example>');
    expect(later.parsed.messageId).not.toBe(first.parsed.messageId);
    for (const { parsed } of [first, later])
      expect([parsed.references, parsed.inReplyTo]).toEqual([
        `<alert.${alertId}@acme.example>`,
        `<alert.${alertId}@acme.example>`,
      ]);
    expect(later.parsed.subject).toBe(`Re: ${first.parsed.subject}`);
  });

  it('cannot be given another header, recipient or text direction by the texts of the alert', async () => {
    const title = 'x\r\nBcc: mallory@evil.example\r\n\r\n<b>body</b>\u0000\u202egnp.exe\u2028y';
    const mail = await received(
      composed(about('created'), { alert: { ...alert, title, description: `a\r\n.\r\nQUIT\r\n${title}` } }),
    );
    expect(mail.to).toEqual(['ann@acme.example']);
    for (const name of ['bcc', 'cc']) expect(headersOf(mail, name)).toEqual([]);
    expect(mail.parsed.subject).toBe('[Castellan] Critical: x Bcc: mallory@evil[.]example <b>body</b> gnp.exe y');
    expect(mail.parsed.html).toContain('&lt;b&gt;body&lt;/b&gt;');
    expect(mail.parsed.html).not.toContain('<b>');
    for (const unsafe of ['\u0000', '\u202e', '\u2028'])
      expect(`${mail.parsed.text}${mail.parsed.html}`).not.toContain(unsafe);
    expect(mail.parsed.text).toContain('\nQUIT\n');
  });

  it('keeps a long title short, and other scripts whole', async () => {
    const { parsed } = await received(composed(about('created'), { alert: { ...alert, title: '漏洩 '.repeat(500) } }));
    expect([...parsed.subject!].length).toBeLessThanOrEqual(200);
    expect(parsed.subject).toContain('漏洩 漏洩');
  });

  it('has no link without an external base URL', () => {
    expect(composeEmail(message(about('created')), { ...context, baseUrl: '' })!.text).not.toContain('/alerts/');
  });

  it('is not composed without the alert', () => {
    expect(composeEmail(message(about('created'), { alert: undefined }), context)).toBeUndefined();
  });
});

describe('other e-mails', () => {
  it('call the person on call, and say who is called next', async () => {
    const page = {
      kind: 'page',
      pageId: eventId,
      alertId,
      eventId,
      severity: 'critical',
      step: 1,
      occurredAt,
    } as const;
    const { parsed } = await received(composed(page));
    expect(parsed.subject).toMatch(/^Page: \[Castellan\] Critical:/);
    expect(parsed.text).toContain('You are on call');
    expect(parsed.references).toBe(`<alert.${alertId}@acme.example>`);
    expect(composed({ ...page, step: 2 }).text).toContain('nobody has acknowledged this alert (step 2)');
  });

  it('count what was held back, and link to it', async () => {
    const heldBack = { critical: 0, high: 12, medium: 1, low: 0 };
    const { parsed } = await received(
      composed({ kind: 'digest', from: occurredAt, to: '2026-06-01T13:00:00.000Z', heldBack, alertIds: [alertId] }),
    );
    expect(parsed.subject).toBe('[Castellan] 13 more messages about alerts');
    expect(parsed.text).toMatch(/High:\s+12\n/);
    expect(parsed.text).not.toContain('Low:');
    expect(parsed.text).toContain(LINK);
    expect(parsed.references).toBeUndefined();
  });

  it('tell of a gap on call, of a webhook that is gone, and of a test', () => {
    const notice = { kind: 'notice', alertId, eventId, occurredAt } as const;
    expect(composed({ ...notice, notice: 'nobody_on_call' }).subject).toContain('Nobody is on call for: A password');
    const gone = composed(
      { ...notice, notice: 'webhook_disabled', alertId: null, eventId: null },
      { alert: undefined },
    );
    expect([gone.subject, gone.thread]).toEqual(['[Castellan] The webhook was switched off', null]);
    expect(composed({ kind: 'test', occurredAt }, { alert: undefined }).subject).toBe('[Castellan] Test message');
  });
});
