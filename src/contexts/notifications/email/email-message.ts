import type { Severity } from '../../alerts/domain/vocabulary.ts';
import type { AlertDocument } from '../alert-document.ts';
import type { OutboundMessage } from '../channel.ts';
import type { HeldCounts, MessageSubject } from '../domain/message.ts';
import { headerLine, renderHtml, renderText, type EmailContent, type EmailLink } from './email-content.ts';
import { domainOf, type Mail } from './smtp-sender.ts';

export interface EmailContext {
  readonly from: string;
  readonly to: string;
  /** The tenant's external base URL; empty if it has none. */
  readonly baseUrl: string;
}

const FOOTER = 'Sent by Castellan, because this address is on record for notifications. Replies are not read.';

/** Composes the e-mail of a message. Undefined if it is about an alert that is not given. */
export function composeEmail(message: OutboundMessage, context: EmailContext): Mail | undefined {
  const content = contentOf(message.subject, message.alert, context.baseUrl);
  if (!content) return undefined;
  const domain = domainOf(context.from);
  const { subject } = message;
  const alertId = 'alertId' in subject ? subject.alertId : null;
  return {
    from: context.from,
    to: context.to,
    subject: content.subject,
    text: renderText(content),
    html: renderHtml(content),
    messageId: `<${message.messageId}@${domain}>`,
    thread: alertId === null ? null : `<alert.${alertId}@${domain}>`,
    isUrgent: content.isUrgent,
  };
}

function contentOf(
  subject: MessageSubject,
  alert: AlertDocument | undefined,
  baseUrl: string,
): EmailContent | undefined {
  switch (subject.kind) {
    case 'alert':
      return alert && aboutAlert(subject, alert, baseUrl);
    case 'page':
      return alert && aboutPage(subject, alert, baseUrl);
    case 'digest':
      return aboutDigest(subject, baseUrl);
    case 'notice':
      return aboutNotice(subject, alert, baseUrl);
    case 'test':
      return TEST;
  }
}

type Of<Kind extends MessageSubject['kind']> = Extract<MessageSubject, { kind: Kind }>;

function aboutAlert({ change }: Of<'alert'>, alert: AlertDocument, baseUrl: string): EmailContent {
  const isNew = change === 'created';
  return {
    ...alertContent(alert, baseUrl),
    // Mail programs group by subject too, and take "Re:" as the same one.
    subject: `${isNew ? '' : 'Re: '}${subjectOf(alert)}`,
    paragraphs: [
      isNew ? 'An alert was raised.' : `The alert was changed. It is ${inWords(alert.status)} now.`,
      defanged(alert.description, alert),
    ].filter((text) => text !== ''),
  };
}

function aboutPage({ step }: Of<'page'>, alert: AlertDocument, baseUrl: string): EmailContent {
  const called =
    step === 1
      ? 'You are on call: this alert needs you.'
      : `You are called because nobody has acknowledged this alert (step ${step}).`;
  return {
    ...alertContent(alert, baseUrl),
    subject: headerLine(`Page: ${subjectOf(alert)}`),
    paragraphs: [called, 'Acknowledge the alert, so that nobody else is called.'],
    isUrgent: true,
  };
}

function aboutNotice({ notice }: Of<'notice'>, alert: AlertDocument | undefined, baseUrl: string): EmailContent {
  if (notice === 'nobody_on_call')
    return {
      ...(alert ? alertContent(alert, baseUrl) : PLAIN),
      subject: headerLine(`[Castellan] Nobody is on call${alert ? ` for: ${defanged(alert.title, alert)}` : ''}`),
      heading: 'Nobody is on call',
      paragraphs: [
        'A critical alert was raised, and no schedule has anybody on call who can be reached.',
        'All super admins get this message. Please look at the alert, and close the gap in the schedules.',
      ],
      isUrgent: true,
    };
  if (notice === 'page_unanswered')
    return {
      ...(alert ? alertContent(alert, baseUrl) : PLAIN),
      subject: headerLine(
        `[Castellan] Nobody answered the page${alert ? ` for: ${defanged(alert.title, alert)}` : ''}`,
      ),
      heading: 'Nobody answered the page',
      paragraphs: [
        'Everybody who takes turns in the schedule was called or could not be reached, and nobody took the alert on.',
        'All super admins get this message, once. Please look at the alert.',
      ],
      isUrgent: true,
    };
  return {
    ...PLAIN,
    subject: '[Castellan] The webhook was switched off',
    heading: 'The webhook was switched off',
    paragraphs: [
      'The receiver of the webhook answered that it is gone for good (status 410). Nothing more is sent to it.',
      'Switch the webhook on again in the notification settings once the receiver is back.',
    ],
  };
}

function aboutDigest({ from, to, heldBack, alertIds }: Of<'digest'>, baseUrl: string): EmailContent {
  const total = Object.values(heldBack).reduce((sum, count) => sum + count, 0);
  return {
    ...PLAIN,
    subject: `[Castellan] ${total} more ${total === 1 ? 'message' : 'messages'} about alerts`,
    heading: `${total} more ${total === 1 ? 'message' : 'messages'} about alerts`,
    paragraphs: [
      'There were more messages than one address gets in an hour. This one stands for the rest. Critical alerts are never held back.',
    ],
    facts: [
      ['From', from],
      ['To', to],
      ...(['critical', 'high', 'medium', 'low'] as const satisfies readonly (keyof HeldCounts)[])
        .filter((severity) => heldBack[severity] > 0)
        .map((severity) => [capitalized(severity), String(heldBack[severity])] as const),
    ],
    links: alertIds.flatMap((id) => linkTo(id, `Alert ${id}`, baseUrl)),
  };
}

const PLAIN = { facts: [], links: [], footer: FOOTER, isUrgent: false } as const;

const TEST: EmailContent = {
  ...PLAIN,
  subject: '[Castellan] Test message',
  heading: 'Test message',
  paragraphs: ['The settings of the mail server work. This is a test, and no alert.'],
};

function alertContent(alert: AlertDocument, baseUrl: string): Omit<EmailContent, 'subject' | 'paragraphs'> {
  return {
    ...PLAIN,
    heading: headerLine(defanged(alert.title, alert)),
    facts: [
      ['Severity', capitalized(alert.severity)],
      ['Type', inWords(alert.alertType)],
      ['Status', inWords(alert.status)],
      ...(alert.domain === null ? [] : [['Domain', defanged(alert.domain, alert)] as const]),
      ['Occurrences', String(alert.occurrenceCount)],
      ['Raised', alert.createdAt],
    ],
    links: linkTo(alert.id, 'Open the alert', baseUrl),
    isUrgent: alert.severity === 'critical',
  };
}

const subjectOf = (alert: AlertDocument): string =>
  headerLine(`[Castellan] ${capitalized(alert.severity)}: ${defanged(alert.title, alert)}`);

const linkTo = (alertId: string, label: string, baseUrl: string): EmailLink[] =>
  baseUrl === '' ? [] : [{ label, url: `${baseUrl.replace(/\/+$/, '')}/alerts/${alertId}` }];

/** Mail programs make links of host names, and mail filters refuse messages that name phishing hosts. */
const defanged = (text: string, { domain }: Pick<AlertDocument, 'domain'>): string =>
  domain === null || domain === '' ? text : text.replaceAll(domain, domain.replaceAll('.', '[.]'));

const inWords = (name: string): string => name.replaceAll('_', ' ');
const capitalized = (name: Severity): string => `${name[0]!.toUpperCase()}${name.slice(1)}`;
