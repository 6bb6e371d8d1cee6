import { z } from 'zod';
import { defineEvents, type EventOf } from '../../../platform/kernel/event.ts';
import { uuid } from '../../../platform/kernel/ids.ts';
import { scheduleContent, withoutEscalation } from './schedule-content.ts';

const scheduleId = uuid();
/**
 * From when on the change holds. It rises with every event of a schedule, so that what held at a moment has one
 * reading, also if clocks of two processes differ.
 */
const effectiveAt = z.iso.datetime();
/** Counts the schedule's versions from 1. */
const version = z.int();

/**
 * Who is on call, by schedule. Every version says from when on it holds: a change today does not change who was on call
 * yesterday.
 */
export const onCallEvents = defineEvents('onCallSchedule', {
  OnCallScheduleCreated: {
    version: 2,
    schema: z.object({ scheduleId, slot: z.int(), version, effectiveAt, content: scheduleContent }),
    upcasters: { 1: withoutEscalation },
    audit: 'on_call_schedule.created',
  },
  /** The complete new content. `isSilenced`: somebody is no longer called by it, or later. Absent in older events. */
  OnCallScheduleUpdated: {
    version: 2,
    schema: z.object({
      scheduleId,
      version,
      effectiveAt,
      content: scheduleContent,
      isSilenced: z.boolean().optional(),
    }),
    upcasters: { 1: withoutEscalation },
    audit: 'on_call_schedule.updated',
  },
  OnCallScheduleDeleted: {
    version: 1,
    schema: z.object({ scheduleId, version, effectiveAt }),
    audit: 'on_call_schedule.deleted',
  },
  OnCallOverrideCreated: {
    version: 1,
    schema: z.object({
      scheduleId,
      overrideId: uuid(),
      adminUserId: uuid(),
      startsAt: z.iso.datetime(),
      endsAt: z.iso.datetime(),
      reason: z.string().nullable(),
      effectiveAt,
      /** The person stands in for more than `FREE_OVERRIDE_DAYS`. Absent in older events. */
      isLong: z.boolean().optional(),
    }),
    personal: { subject: 'adminUserId', fields: ['reason'] },
    audit: 'on_call_override.created',
  },
  OnCallOverrideRemoved: {
    version: 1,
    schema: z.object({
      scheduleId,
      overrideId: uuid(),
      effectiveAt,
      /** Overrides took the schedule from its rotation for more than `FREE_OVERRIDE_DAYS`. Absent in older events. */
      isLong: z.boolean().optional(),
    }),
    audit: 'on_call_override.removed',
  },
  /** From now on this calendar's address is valid, and no earlier one. The address is signed and in no event. */
  OnCallCalendarShared: {
    version: 1,
    schema: z.object({ scheduleId, calendarId: uuid(), effectiveAt }),
    audit: 'on_call_calendar.shared',
  },
  OnCallCalendarRevoked: {
    version: 1,
    schema: z.object({ scheduleId, calendarId: uuid(), effectiveAt }),
    audit: 'on_call_calendar.revoked',
  },
});
export type OnCallEvent = EventOf<typeof onCallEvents>;
