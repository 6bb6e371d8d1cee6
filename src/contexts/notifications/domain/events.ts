import { z } from 'zod';
import { defineEvents, type EventOf } from '../../../platform/kernel/event.ts';
import { uuid } from '../../../platform/kernel/ids.ts';
import { channelNameSchema, heldCounts, recipientSchema, subjectSchema } from './message.ts';

const deliveryId = uuid();
const moment = z.iso.datetime();
/** Recipients that one event plans. More are planned by several (`inBatches`). */
export const MAX_RECIPIENTS = 100;

/** One message on one channel to several recipients, each of whom gets a delivery. */
export const notificationEvents = defineEvents('notification', {
  NotificationPlanned: {
    version: 1,
    schema: z.object({
      notificationId: uuid(),
      channel: channelNameSchema,
      /** What the deliveries' ids derive from: an event, a page. */
      cause: uuid(),
      subject: subjectSchema,
      recipients: z.array(recipientSchema).max(MAX_RECIPIENTS),
    }),
    audit: 'notification.planned',
  },
});

export const attemptOutcomes = ['accepted', 'deferred', 'refused'] as const;

/** A delivery: one message to one recipient, and every attempt at it. The receipts of everything that left. */
export const deliveryEvents = defineEvents('delivery', {
  DeliveryPlanned: {
    version: 1,
    schema: z.object({
      deliveryId,
      channel: channelNameSchema,
      recipient: recipientSchema,
      subject: subjectSchema,
      /** The same in every attempt and every replay, so that receivers recognize a repetition. */
      messageId: uuid(),
      /** The replay that sends history again. */
      replayId: uuid().nullable(),
      /** The limit of the recipient held it back: it is part of the digest that is due then. */
      digestDueAt: moment.nullable(),
      plannedAt: moment,
    }),
    audit: 'delivery.planned',
  },
  /** Recorded before anything is sent: after a crash the log tells which messages may have left. */
  DeliveryAttemptStarted: {
    version: 1,
    schema: z.object({
      deliveryId,
      attempt: z.int().min(1),
      startedAt: moment,
      /** If no result is recorded by then, the process is gone and another one may try. */
      heldUntil: moment,
    }),
    audit: 'delivery.attempt_started',
  },
  DeliveryAttemptEnded: {
    version: 1,
    schema: z.object({
      deliveryId,
      attempt: z.int().min(1),
      outcome: z.enum(attemptOutcomes),
      /** Fixed words and status codes, never text of the receiver. */
      response: z.string(),
      durationMs: z.int().min(0),
      endedAt: moment,
      /** Null: this was the last attempt. */
      nextAttemptAt: moment.nullable(),
    }),
    audit: 'delivery.attempt_ended',
  },
  /** An administrator asked for another round of attempts. */
  DeliveryRetryRequested: {
    version: 1,
    schema: z.object({ deliveryId, channel: channelNameSchema, requestedAt: moment }),
    audit: 'delivery.retry_requested',
  },
});
export type DeliveryEvent = EventOf<typeof deliveryEvents>;

/** What a recipient of e-mail or push gets in an hour. Each event holds the window after it. */
export const messageLimitEvents = defineEvents('messageLimit', {
  MessageAdmitted: {
    version: 1,
    schema: z.object({
      recipientId: uuid(),
      recipient: recipientSchema,
      channel: channelNameSchema,
      cause: uuid(),
      subject: subjectSchema,
      windowEndsAt: moment,
      /** Messages of the window, this one included. */
      sent: z.int().min(1),
    }),
    audit: 'message_limit.admitted',
  },
  MessageHeldBack: {
    version: 1,
    schema: z.object({
      recipientId: uuid(),
      recipient: recipientSchema,
      channel: channelNameSchema,
      cause: uuid(),
      subject: subjectSchema,
      windowEndsAt: moment,
      sent: z.int().min(1),
      /** Messages held back in the window, this one included. */
      held: heldCounts,
    }),
    audit: 'message_limit.held_back',
  },
  /** The window is over: one message about everything that was held back. */
  DigestDue: {
    version: 1,
    schema: z.object({
      recipientId: uuid(),
      recipient: recipientSchema,
      channel: channelNameSchema,
      cause: uuid(),
      subject: subjectSchema,
    }),
    audit: 'message_limit.digest_due',
  },
});
