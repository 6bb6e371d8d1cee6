import { z } from 'zod';
import { alertTypeSchema, severitySchema } from '../../alerts/domain/vocabulary.ts';

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
