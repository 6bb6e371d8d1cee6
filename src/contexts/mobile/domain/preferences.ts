import { z } from 'zod';
import { alertTypeSchema, severities, severitySchema } from '../../alerts/domain/vocabulary.ts';

/** A time in which a person gets no push, except for critical alerts. */
export const quietHours = z.object({
  enabled: z.boolean(),
  /** `HH:MM` in the zone. An end before the start is on the next day; equal times mean the whole day. */
  start: z.string(),
  end: z.string(),
  timezone: z.string(),
});
export type QuietHours = z.output<typeof quietHours>;

/** Which alerts a person wants on their devices, as events hold it (OP-191). */
export const mobilePreferences = z.object({
  pushEnabled: z.boolean(),
  minSeverity: severitySchema,
  /** Empty: all types. */
  alertTypes: z.array(alertTypeSchema),
  onlyWhenOnCall: z.boolean(),
  quietHours,
});
export type MobilePreferences = z.output<typeof mobilePreferences>;

export const DEFAULT_PREFERENCES: MobilePreferences = {
  pushEnabled: true,
  minSeverity: 'high',
  alertTypes: [],
  onlyWhenOnCall: true,
  quietHours: { enabled: false, start: '22:00', end: '07:00', timezone: 'UTC' },
};

/** Longer quiet hours are no night's rest: somebody does not want the person to hear of an attack. */
const LONGEST_REST_MINUTES = 16 * 60;
const DAY_MINUTES = 24 * 60;

const minutesOf = (time: string): number => {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
};
const quietMinutes = ({ enabled, start, end }: QuietHours): number =>
  enabled ? (minutesOf(end) - minutesOf(start) + DAY_MINUTES) % DAY_MINUTES || DAY_MINUTES : 0;

/** The person is called about attacks on the tenant: alerts of type `policy_violation` and severity `high`. */
const hearsOfAttacks = ({ pushEnabled, minSeverity, alertTypes, quietHours: quiet }: MobilePreferences): boolean =>
  pushEnabled &&
  severities.indexOf('high') <= severities.indexOf(minSeverity) &&
  (alertTypes.length === 0 || alertTypes.includes('policy_violation')) &&
  quietMinutes(quiet) <= LONGEST_REST_MINUTES;

/** With these preferences the person no longer hears of attacks (OP-436). */
export const silencesPerson = (before: MobilePreferences, after: MobilePreferences): boolean =>
  hearsOfAttacks(before) && !hearsOfAttacks(after);
