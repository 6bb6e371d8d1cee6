import { z } from 'zod';
import { uuid } from '../../../platform/kernel/ids.ts';
import { severitySchema } from '../../alerts/domain/vocabulary.ts';

/** Fact F207. */
export const channelNames = ['email', 'webhook', 'push'] as const;
export const channelNameSchema = z.enum(channelNames);
export type ChannelName = (typeof channelNames)[number];

/** Who gets a message. The webhook is that of the tenant's settings; a device belongs to an administrator. */
export const recipientSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('webhook') }).meta({ title: 'WebhookRecipient' }),
  z.object({ kind: z.literal('email'), address: z.string() }).meta({ title: 'EmailRecipient' }),
  z.object({ kind: z.literal('push'), deviceId: uuid(), adminId: uuid() }).meta({ title: 'PushRecipient' }),
]);
export type Recipient = z.output<typeof recipientSchema>;

export const MAX_DIGEST_ALERTS = 50;
/** Messages that were held back, by severity. */
export const heldCounts = z
  .object({ critical: z.int(), high: z.int(), medium: z.int(), low: z.int() })
  .meta({ title: 'HeldBackCounts' });
export type HeldCounts = z.output<typeof heldCounts>;

/** Conditions, other than alerts, that people are notified of. */
export const noticeKinds = ['nobody_on_call', 'page_unanswered', 'webhook_disabled'] as const;

/**
 * What a message is about. Content is read from the log when it is sent: a delivery holds ids only, so that nothing
 * about a person outlives their erasure.
 */
export const subjectSchema = z.discriminatedUnion('kind', [
  /** A change of an alert. `severity` is that after the event. */
  z
    .object({
      kind: z.literal('alert'),
      alertId: uuid(),
      eventId: uuid(),
      change: z.enum(['created', 'updated']),
      severity: severitySchema,
      occurredAt: z.iso.datetime(),
    })
    .meta({ title: 'AlertSubject' }),
  /** Alerts that the limit held back. `alertIds` names the latest ones. */
  z
    .object({
      kind: z.literal('digest'),
      from: z.iso.datetime(),
      to: z.iso.datetime(),
      heldBack: heldCounts,
      alertIds: z.array(uuid()).max(MAX_DIGEST_ALERTS),
    })
    .meta({ title: 'DigestSubject' }),
  /** A page of the person on call. `step` counts escalations from 1. */
  z
    .object({
      kind: z.literal('page'),
      pageId: uuid(),
      alertId: uuid(),
      eventId: uuid(),
      severity: severitySchema,
      step: z.int().min(1),
      occurredAt: z.iso.datetime(),
    })
    .meta({ title: 'PagingSubject' }),
  z
    .object({
      kind: z.literal('notice'),
      notice: z.enum(noticeKinds),
      alertId: uuid().nullable(),
      eventId: uuid().nullable(),
      occurredAt: z.iso.datetime(),
    })
    .meta({ title: 'NoticeSubject' }),
  z.object({ kind: z.literal('test'), occurredAt: z.iso.datetime() }).meta({ title: 'TestSubject' }),
]);
export type MessageSubject = z.output<typeof subjectSchema>;
export type MessageSubjectKind = MessageSubject['kind'];

/** What a message is counted under: one webhook of a tenant, an e-mail address, a device. */
export function recipientKey(recipient: Recipient): string {
  switch (recipient.kind) {
    case 'webhook':
      return 'webhook';
    case 'email':
      return `email|${recipient.address.toLowerCase()}`;
    case 'push':
      return `push|${recipient.deviceId}`;
  }
}
