import { z } from 'zod';
import { uuid } from '../../../platform/kernel/ids.ts';
import type { HandoffPlan } from './shift-boundaries.ts';

export const rotationTypes = ['daily', 'weekly', 'custom'] as const;

/** Exact limit of schedules of a tenant. */
export const MAX_SCHEDULES = 250;
/** Overrides of a schedule that a new one may overlap, and that can be removed. */
export const MAX_OVERRIDES = 200;
export const MAX_PARTICIPANTS = 100;
export const MAX_ROTATION_DAYS = 365;
export const MAX_ESCALATION_MINUTES = 24 * 60;
export const MAX_ESCALATION_ROUNDS = 5;

/** What an administrator decides about a schedule, as events hold it (choice OP-187). */
export const scheduleContent = z.object({
  name: z.string(),
  timezone: z.string(),
  rotationType: z.enum(rotationTypes),
  /** Null unless the rotation is custom. */
  rotationDays: z.int().nullable(),
  /** `HH:MM`, in the time zone. */
  handoffTime: z.string(),
  /** `YYYY-MM-DD`: the first participant's first shift begins on this day. */
  startDate: z.string(),
  /** In the order of their shifts; a person may have several places. */
  participants: z.array(uuid()),
  isEnabled: z.boolean(),
  /** A page that nobody has answered for so long goes to the next person. Null: pushes are not escalated. */
  escalationMinutes: z.int().nullable(),
  /** How many times everybody is called before all super admins are notified. */
  escalationRounds: z.int(),
});
export type ScheduleContent = z.output<typeof scheduleContent>;

/** Version 1 of the events had no escalation. */
export const withoutEscalation = (data: object): object => {
  const { content } = data as { readonly content: object };
  return { ...data, content: { escalationMinutes: null, escalationRounds: 1, ...content } };
};

const WEEK = 7;

export const shiftDaysOf = ({ rotationType, rotationDays }: ScheduleContent): number =>
  rotationType === 'daily' ? 1 : rotationType === 'weekly' ? WEEK : (rotationDays ?? 1);

export const planOf = (content: ScheduleContent): HandoffPlan => ({
  timezone: content.timezone,
  handoffTime: content.handoffTime,
  startDate: content.startDate,
  days: shiftDaysOf(content),
});
