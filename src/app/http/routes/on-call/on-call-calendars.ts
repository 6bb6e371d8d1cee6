import { z } from 'zod';
import { revokeOnCallCalendar } from '../../../../../commands/on-call/revoke-on-call-calendar.ts';
import { shareOnCallCalendar } from '../../../../../commands/on-call/share-on-call-calendar.ts';
import { onCallCalendar } from '../../../../../queries/on-call/on-call-calendar.ts';
import type { Lookups } from '../../../../contexts/identity/lookups.ts';
import type { CalendarAddresses } from '../../../../contexts/on-call/calendar-addresses.ts';
import { calendarFile } from '../../../../contexts/on-call/calendar-file.ts';
import type { ShiftCalendars } from '../../../../contexts/on-call/domain/shift-calendars.ts';
import { FailureError, forbidden } from '../../../../platform/kernel/failure.ts';
import { asTenantId, isUuid, uuid } from '../../../../platform/kernel/ids.ts';
import { admin, adminReauthenticated, openAccess } from '../../access.ts';
import { writtenAs } from '../../query-types.ts';
import { routeWith, type RouteGroup } from '../../route.ts';

export interface OnCallCalendarsRouteDependencies {
  readonly calendarAddresses: CalendarAddresses;
  readonly shiftCalendars: ShiftCalendars;
  readonly lookups: Lookups;
}

const route = routeWith<OnCallCalendarsRouteDependencies>();

const path = '/api/v1/admin/on-call/schedules/{scheduleId}/calendar';
const params = z.object({ scheduleId: uuid() });

/** The shifts of a schedule for calendar programs (RFC 5545), at a signed URL that can be revoked. */
export const onCallCalendarRoutes: RouteGroup<OnCallCalendarsRouteDependencies> = {
  area: 'on-call',
  routes: [
    route({
      method: 'POST',
      path,
      access: adminReauthenticated('on-call:write'),
      summary: 'Share the calendar of an on-call schedule',
      description:
        'The response has a URL that shows the shifts to everybody who knows it, without a session: schedule, names and times. It is valid until it is revoked. A URL that was shared before stops working.',
      params,
      status: 201,
      response: z.object({ url: z.url(), sharedAt: z.iso.datetime() }),
      handle: async ({ run, services, params: { scheduleId }, principal: { tenantId } }) => {
        const { result, recordedAt } = await run(shareOnCallCalendar, { scheduleId });
        const { externalBaseUrl = '' } = (await services.lookups.tenant(tenantId, tenantId)) ?? {};
        const to = { tenantId, scheduleId, calendarId: result.calendarId };
        return {
          url: services.calendarAddresses.address(externalBaseUrl, to),
          sharedAt: new Date(await recordedAt()).toISOString(),
        };
      },
    }),
    route({
      method: 'DELETE',
      path,
      access: admin('on-call:write'),
      summary: 'Revoke the calendar of an on-call schedule',
      description: 'Its URL stops working.',
      params,
      handle: async ({ run, params: { scheduleId } }) => {
        await run(revokeOnCallCalendar, { scheduleId });
      },
    }),
    route({
      method: 'GET',
      path: '/api/v1/on-call/{tenantID}/{scheduleId}/calendar.ics',
      access: openAccess('admin'),
      summary: 'Get the shifts of a schedule as a calendar, by its signed URL',
      sends: ['Content-Disposition'],
      refuses: ['address_invalid'],
      description: 'iCalendar (RFC 5545): 30 days back, 90 days ahead. 403 if the URL is invalid or was revoked.',
      params: params.extend({ tenantID: uuid() }),
      query: z.object({
        calendar: writtenAs(z.string().max(36), { type: 'string', format: 'uuid' }).default(''),
        signature: z.string().max(64).default(''),
      }),
      response: { media: 'text/calendar' },
      handle: async ({ ask, services, reply, params: { tenantID, scheduleId }, query }) => {
        const tenantId = asTenantId(tenantID);
        const calendarId = query.calendar;
        const isGenuine = services.calendarAddresses.isGenuine({ tenantId, scheduleId, calendarId }, query.signature);
        if (!isGenuine || !isUuid(calendarId)) throw new FailureError(forbidden('address_invalid'));
        const now = Date.now();
        const { shiftCalendars: calendars } = services;
        const calendar = await ask(onCallCalendar, { scheduleId, calendarId, now, calendars }, tenantId);
        void reply.headers({
          'content-type': 'text/calendar; charset=utf-8',
          'content-disposition': 'inline; filename="on-call.ics"',
          'cache-control': 'private, no-cache',
        });
        return calendarFile(calendar, now);
      },
    }),
  ],
};
