import { z } from 'zod';
import { createOnCallOverride } from '../../../../../commands/on-call/create-on-call-override.ts';
import { createOnCallSchedule } from '../../../../../commands/on-call/create-on-call-schedule.ts';
import { deleteOnCallSchedule } from '../../../../../commands/on-call/delete-on-call-schedule.ts';
import { removeOnCallOverride } from '../../../../../commands/on-call/remove-on-call-override.ts';
import { updateOnCallSchedule } from '../../../../../commands/on-call/update-on-call-schedule.ts';
import {
  getOnCallOverride,
  getOnCallSchedule,
  listOnCallSchedules,
  onCallOverrideView,
  onCallScheduleView,
  viewOfNewOnCallOverride,
  viewOfNewOnCallSchedule,
} from '../../../../../queries/on-call/on-call-schedule-view.ts';
import {
  MAX_ESCALATION_MINUTES,
  MAX_ESCALATION_ROUNDS,
  MAX_OVERRIDES,
  MAX_PARTICIPANTS,
  MAX_ROTATION_DAYS,
  MAX_SCHEDULES,
  rotationTypes,
} from '../../../../contexts/on-call/domain/schedule-content.ts';
import { FREE_OVERRIDE_DAYS } from '../../../../contexts/on-call/domain/schedule.ts';
import { recordsThatNameSchedule } from '../../../../../queries/on-call/records-that-name-schedule.ts';
import { uuid } from '../../../../platform/kernel/ids.ts';
import { timeZoneField } from '../../../../platform/time-zones/time-zone-field.ts';
import { admin, adminReauthenticated, adminReauthenticatedWhere } from '../../access.ts';
import { deleteUnnamed, type DeleteUnnamedDependencies } from '../../delete-unnamed.ts';
import { route, routeWith, type RouteGroup } from '../../route.ts';
import { nameField } from '../../../../platform/kernel/name-field.ts';
import { ruleBetween } from '../../../../platform/kernel/rule-between.ts';

const base = '/api/v1/admin/on-call';
const schedules = `${base}/schedules`;
const params = z.object({ scheduleId: uuid() });

/** Years in which the clocks of zones follow rules that anybody can know. */
const isInRange = (day: string): boolean => day >= '1990' && day < '2200';
const startDate = z.iso
  .date()
  .refine(isInRange, 'must be between 1990 and 2199')
  .describe('Day on which the first shift begins, as YYYY-MM-DD');
const moment = z.iso
  .datetime({ offset: true })
  .refine(isInRange, 'must be between 1990 and 2199')
  .transform((text) => new Date(text).toISOString());

const name = nameField();
const rotationType = z.enum(rotationTypes);
const rotationDays = z.int().min(1).max(MAX_ROTATION_DAYS).describe('Length of a shift, for the type `custom`');
const handoffTime = z
  .string()
  .regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'must be a time as HH:MM')
  .describe('Time of the handoff in the time zone, as HH:MM');
const participants = z
  .array(uuid())
  .min(1)
  .max(MAX_PARTICIPANTS)
  .describe('Ids of administrators, in the order of their shifts');

const escalationMinutes = z
  .int()
  .min(1)
  .max(MAX_ESCALATION_MINUTES)
  .nullable()
  .describe('A page that nobody has answered for so long goes to the next participant. Null: no page is escalated');
const escalationRounds = z
  .int()
  .min(1)
  .max(MAX_ESCALATION_ROUNDS)
  .describe('How many times everybody is called before all super admins are told');

const newSchedule = z
  .object({
    name,
    timezone: timeZoneField.default('UTC'),
    rotationType: rotationType.default('weekly'),
    rotationDays: rotationDays.nullish(),
    handoffTime: handoffTime.default('09:00'),
    startDate: startDate.optional(),
    participants,
    isEnabled: z.boolean().default(true),
    escalationMinutes: escalationMinutes.default(null),
    escalationRounds: escalationRounds.default(1),
  })
  .check(
    ruleBetween(['rotationDays', 'rotationType'], ({ rotationType: type, rotationDays: days }) =>
      type !== 'custom' || typeof days === 'number' ? undefined : 'is required for a custom rotation',
    ),
  );

const changes = z.object({
  name: name.optional(),
  timezone: timeZoneField.optional(),
  rotationType: rotationType.optional(),
  rotationDays: rotationDays.nullable().optional(),
  handoffTime: handoffTime.optional(),
  startDate: startDate.optional(),
  participants: participants.optional(),
  isEnabled: z.boolean().optional(),
  escalationMinutes: escalationMinutes.optional(),
  escalationRounds: escalationRounds.optional(),
});

const newOverride = z
  .object({
    scheduleId: uuid(),
    adminUserId: uuid(),
    startsAt: moment,
    endsAt: moment,
    reason: z.string().max(2_000).nullish(),
  })
  .check(
    ruleBetween(['endsAt', 'startsAt'], ({ startsAt, endsAt }) =>
      startsAt < endsAt ? undefined : 'must be after startsAt',
    ),
  );

const LONG_OVERRIDES = `the overrides of the schedule that have not ended take more than ${FREE_OVERRIDE_DAYS} days together`;

/** Who takes turns, and who stands in (choices OP-187 and OP-188, F202 and F204). */
export const onCallScheduleRoutes: RouteGroup<DeleteUnnamedDependencies> = {
  area: 'on-call',
  routes: [
    route({
      method: 'GET',
      path: schedules,
      access: admin('on-call:read'),
      summary: 'List on-call schedules',
      description: `Returns all of them, newest first, each with its overrides.`,
      response: z.object({ schedules: z.array(onCallScheduleView), total: z.int() }),
      handle: ({ ask }) => ask(listOnCallSchedules, undefined),
    }),
    route({
      method: 'POST',
      path: schedules,
      access: admin('on-call:write'),
      summary: 'Create an on-call schedule',
      description: `Somebody is on call from now on. Without \`startDate\`, the first shift begins today in the time zone of the schedule. A tenant may have ${MAX_SCHEDULES} schedules (409).`,
      body: newSchedule,
      status: 201,
      response: onCallScheduleView,
      handle: async ({ run, created, body }) => {
        const custom = body.rotationType === 'custom';
        const executed = await run(createOnCallSchedule, {
          ...body,
          rotationDays: custom ? (body.rotationDays ?? null) : null,
          startDate: body.startDate,
        });
        const { scheduleId } = executed.result;
        return created(executed, getOnCallSchedule, { scheduleId }, viewOfNewOnCallSchedule(scheduleId));
      },
    }),
    route({
      method: 'GET',
      path: `${schedules}/{scheduleId}`,
      access: admin('on-call:read'),
      summary: 'Get an on-call schedule',
      params,
      response: onCallScheduleView,
      handle: ({ ask, params: { scheduleId } }) => ask(getOnCallSchedule, { scheduleId }),
    }),
    route({
      method: 'PUT',
      path: `${schedules}/{scheduleId}`,
      access: adminReauthenticatedWhere(
        'on-call:write',
        "the schedule is switched off, its participants change, somebody else or nobody has a shift at a time that was somebody's, or pages are no longer escalated, later, or in fewer rounds",
      ),
      summary: 'Change an on-call schedule',
      description: 'Fields that are left out keep their values. Holds from now on: who was on call before stays known.',
      params,
      body: changes,
      response: onCallScheduleView,
      handle: async ({ run, ask, body, params: { scheduleId }, principal: { reauthenticated } }) => {
        await run(updateOnCallSchedule, { scheduleId, changes: body, reauthenticated });
        return ask(getOnCallSchedule, { scheduleId });
      },
    }),
    routeWith<DeleteUnnamedDependencies>()({
      method: 'DELETE',
      path: `${schedules}/{scheduleId}`,
      access: adminReauthenticated('on-call:write'),
      summary: 'Delete an on-call schedule',
      description:
        'Its overrides and its calendar end too. Who was on call before stays known. 409 if a push rule names it: `fields` has the id of each.',
      refuses: ['still_named'],
      params,
      handle: async ({ run, ask, services, principal: { tenantId }, params: { scheduleId } }) => {
        await ask(getOnCallSchedule, { scheduleId });
        await deleteUnnamed(services, {
          tenantId,
          id: scheduleId,
          naming: () => ask(recordsThatNameSchedule, { scheduleId }),
          remove: () => run(deleteOnCallSchedule, { scheduleId }),
        });
      },
    }),
    route({
      method: 'POST',
      path: `${base}/overrides`,
      access: adminReauthenticatedWhere('on-call:override', LONG_OVERRIDES),
      summary: 'Create an on-call override',
      refuses: ['not_found', 'overrides_overlap'],
      description: `Puts an administrator on call in place of the rotation, from \`startsAt\` (included) to \`endsAt\` (excluded), but not before now. 409 if it overlaps another override of the schedule. A schedule keeps up to ${MAX_OVERRIDES} overrides; one more takes the place of those that have ended, or is a 409.`,
      body: newOverride,
      status: 201,
      response: onCallOverrideView,
      handle: async ({ run, created, body, principal: { reauthenticated } }) => {
        const executed = await run(createOnCallOverride, { ...body, reason: body.reason ?? null, reauthenticated });
        const { overrideId } = executed.result;
        return created(executed, getOnCallOverride, { overrideId }, viewOfNewOnCallOverride(overrideId));
      },
    }),
    route({
      method: 'DELETE',
      path: `${schedules}/{scheduleId}/overrides/{overrideId}`,
      access: adminReauthenticatedWhere('on-call:override', LONG_OVERRIDES),
      summary: 'Remove an on-call override',
      description: 'The rotation holds again from now on.',
      params: params.extend({ overrideId: uuid() }),
      handle: async ({ run, params: { scheduleId, overrideId }, principal: { reauthenticated } }) => {
        await run(removeOnCallOverride, { scheduleId, overrideId, reauthenticated });
      },
    }),
  ],
};
