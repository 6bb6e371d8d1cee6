import { z } from 'zod';
import { MAX_HOLES, onCallCoverage, onCallCoverageView } from '../../../../../queries/on-call/on-call-coverage.ts';
import { onCallShiftView } from '../../../../../queries/on-call/on-call-shift.ts';
import { MAX_SHIFTS, upcomingShifts } from '../../../../../queries/on-call/upcoming-shifts.ts';
import { whoIsOnCall, whoIsOnCallView } from '../../../../../queries/on-call/who-is-on-call.ts';
import type { ShiftCalendars } from '../../../../contexts/on-call/domain/shift-calendars.ts';
import { uuid } from '../../../../platform/kernel/ids.ts';
import { admin } from '../../access.ts';
import { wholeNumberText } from '../../query-types.ts';
import { routeWith, type RouteGroup } from '../../route.ts';

export interface OnCallShiftsRouteDependencies {
  readonly shiftCalendars: ShiftCalendars;
}

const route = routeWith<OnCallShiftsRouteDependencies>();

const base = '/api/v1/admin/on-call';
const DAY_MS = 86_400_000;
const MAX_DAYS = 90;
const schedule = { schedule_id: uuid().optional().describe('Only this schedule') };
const ahead = z.object({
  days: wholeNumberText({ minimum: 1, maximum: MAX_DAYS, usual: 14 })
    .default(14)
    .describe(`How many days ahead, 1 to ${MAX_DAYS}`),
  ...schedule,
});
const at = z.iso
  .datetime({ offset: true })
  .refine((text) => text >= '1990' && text < '9000', 'must be between 1990 and 8999')
  .transform((text) => Date.parse(text))
  .describe('Moment, past or future, as an RFC 3339 timestamp; by default now');

const intervalOf = (
  { days, schedule_id: scheduleId }: { days: number; schedule_id?: string | undefined },
  calendars: ShiftCalendars,
) => {
  const from = Date.now();
  return { from, to: from + days * DAY_MS, scheduleId, calendars };
};

/** Who is on call, and when nobody is (choice OP-189, F203). */
export const onCallShiftRoutes: RouteGroup<OnCallShiftsRouteDependencies> = {
  area: 'on-call',
  routes: [
    route({
      method: 'GET',
      path: `${base}/current`,
      access: admin('on-call:read'),
      summary: 'List who is on call',
      description:
        'Now, or at the moment `at`, by the name of the schedule. Schedules, overrides and accounts are read as they were at that moment. `uncovered` lists the schedules with nobody who could be reached.',
      query: z.object({ at: at.optional(), ...schedule }),
      response: whoIsOnCallView,
      handle: ({ ask, query, services: { shiftCalendars: calendars } }) =>
        ask(whoIsOnCall, { at: query.at ?? Date.now(), scheduleId: query.schedule_id, calendars }),
    }),
    route({
      method: 'GET',
      path: `${base}/upcoming`,
      access: admin('on-call:read'),
      summary: 'List the next shifts',
      description: `The shifts that begin within the next days, in the order of time. At most ${MAX_SHIFTS}; \`total\` counts all.`,
      query: ahead,
      response: z.object({ shifts: z.array(onCallShiftView), total: z.int() }),
      handle: ({ ask, query, services }) => ask(upcomingShifts, intervalOf(query, services.shiftCalendars)),
    }),
    route({
      method: 'GET',
      path: `${base}/coverage`,
      access: admin('on-call:read'),
      summary: 'List when nobody can be reached',
      description: `By schedule, for the next days: gaps in which nobody has the shift, and shifts of people whose accounts are suspended or deleted. At most ${MAX_HOLES} of each; the counts are complete.`,
      query: ahead,
      response: z.object({ coverage: z.array(onCallCoverageView), total: z.int() }),
      handle: ({ ask, query, services }) => ask(onCallCoverage, intervalOf(query, services.shiftCalendars)),
    }),
  ],
};
