import { z } from 'zod';
import { defineEvents, type EventOf } from '../../../platform/kernel/event.ts';
import { uuid } from '../../../platform/kernel/ids.ts';
import { severitySchema } from '../../alerts/domain/vocabulary.ts';
import { recipientSchema } from '../../notifications/domain/message.ts';
import { MAX_ORDER, unreachableReasons } from './page-order.ts';

const pageId = uuid();
const alertId = uuid();
const scheduleId = uuid();
/** The event of the alert that calls people. */
const eventId = uuid();
const moment = z.iso.datetime();

/** Messages of one step. Addresses stand before devices, so that a limit cuts devices only. */
export const MAX_PAGE_RECIPIENTS = 1_000;
const recipients = z.array(recipientSchema).max(MAX_PAGE_RECIPIENTS);

/** People who would have been next, and cannot be reached. */
const passedOver = z.array(z.object({ adminId: uuid(), reason: z.enum(unreachableReasons) })).max(MAX_ORDER);

export const responseKinds = ['acknowledged', 'resolved', 'assigned', 'claimed'] as const;
/** What counts as an answer to a page. */
export type ResponseKind = (typeof responseKinds)[number];
/** `erased`: the person whom the alert is about was erased, and there is nothing left to tell. */
export const pageEndings = [...responseKinds, 'erased'] as const;
export type PageEnding = (typeof pageEndings)[number];

/**
 * Pages about one alert, in one stream: who was called, when the next person is due, and how it ended. A page is about
 * one schedule and one event of the alert.
 */
export const pageEvents = defineEvents('page', {
  PageStarted: {
    version: 1,
    schema: z.object({
      pageId,
      alertId,
      scheduleId,
      eventId,
      occurredAt: moment,
      severity: severitySchema,
      /** Those of the schedule at this moment: they hold for the whole page. */
      escalationMinutes: z.int().min(1),
      escalationRounds: z.int().min(1),
      startedAt: moment,
      /** How often the alert had been opened again by then. Pages from before this was counted: not stated. */
      reopenings: z.int().min(0).optional(),
    }),
    about: { resource: 'page', id: 'pageId' },
    audit: 'page.started',
  },
  /** One step: the first call, or an escalation to the next person. */
  PagePersonCalled: {
    version: 1,
    schema: z.object({
      pageId,
      alertId,
      scheduleId,
      eventId,
      severity: severitySchema,
      /** Counts from 1. */
      step: z.int().min(1),
      round: z.int().min(1),
      adminId: uuid(),
      passedOver,
      recipients,
      calledAt: moment,
      /** The timer: without an answer, the next step is due then. */
      escalatesAt: moment,
    }),
    about: { resource: 'page', id: 'pageId' },
    audit: 'page.person_called',
  },
  /** Nobody is left to call. */
  PageExhausted: {
    version: 1,
    schema: z.object({
      pageId,
      alertId,
      scheduleId,
      eventId,
      passedOver,
      /** All super admins; empty if they were notified of this event of the alert before. */
      recipients,
      exhaustedAt: moment,
    }),
    about: { resource: 'page', id: 'pageId' },
    audit: 'page.exhausted',
  },
  PagesEnded: {
    version: 1,
    schema: z.object({
      alertId,
      pageIds: z.array(pageId).min(1),
      ending: z.enum(pageEndings),
      /** Who answered; null if it is not known. */
      adminId: uuid().nullable(),
      endedAt: moment,
    }),
    about: { resource: 'alert', id: 'alertId' },
    audit: 'page.ended',
  },
});
export type PageEvent = EventOf<typeof pageEvents>;
