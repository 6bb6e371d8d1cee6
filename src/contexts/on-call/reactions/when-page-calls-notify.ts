import { v5 } from 'uuid';
import { planNotification } from '../../../../commands/notifications/plan-notification.ts';
import { defineReaction, effect } from '../../../platform/kernel/reaction.ts';
import type { MessageSubject, Recipient } from '../../notifications/domain/message.ts';
import { inBatches } from '../../notifications/domain/planned-notification.ts';
import { pageEvents } from '../domain/page-events.ts';

/** UUIDv5 namespaces (RFC 9562 §5.5): one message for each step, one for all super admins about an event of an alert. */
const STEPS = '6b8e21d4-3c0f-4f95-a7d2-9e4c5b1a80f7';
const SUPER_ADMINS = 'e47a9b13-5d68-4c2a-b0f1-7d83c6e592a4';

const planned = (cause: string, subject: MessageSubject, recipients: readonly Recipient[]) =>
  (['push', 'email'] as const).flatMap((channel) => {
    const ofChannel = recipients.filter(({ kind }) => kind === channel);
    return inBatches({ channel, cause, subject, recipients: ofChannel }).map((plan) => ({
      effects: [effect(planNotification, plan)],
    }));
  });

/** Each step of a page becomes messages of the outbox. */
export const whenPageCallsNotify = defineReaction({
  name: 'page-messages',
  lane: 'main',
  families: [pageEvents],
  on: {
    PagePersonCalled: ({ data: { pageId, alertId, eventId, severity, step, recipients, calledAt } }) =>
      planned(
        v5(`${pageId}|${step}`, STEPS),
        { kind: 'page', pageId, alertId, eventId, severity, step, occurredAt: calledAt },
        recipients,
      ),
    PageExhausted: ({ data: { alertId, eventId, recipients, exhaustedAt } }) =>
      planned(
        v5(eventId, SUPER_ADMINS),
        { kind: 'notice', notice: 'page_unanswered', alertId, eventId, occurredAt: exhaustedAt },
        recipients,
      ),
  },
});
