import { Temporal } from 'temporal-polyfill';
import type { QuietHours } from '../../mobile/domain/preferences.ts';

/**
 * Whether the clocks of the zone show a quiet time: from the start (included) to the end (excluded). It follows what
 * clocks show, so a night on which they change is as much shorter or longer.
 */
export function isQuiet({ enabled, start, end, timezone }: QuietHours, epochMs: number): boolean {
  if (!enabled) return false;
  const time = timeIn(timezone, epochMs);
  if (start === end) return true;
  return start < end ? start <= time && time < end : start <= time || time < end;
}

/** `HH:MM`. */
const timeIn = (timezone: string, epochMs: number): string =>
  Temporal.Instant.fromEpochMilliseconds(epochMs)
    .toZonedDateTimeISO(timezone)
    .toPlainTime()
    .toString({ smallestUnit: 'minute' });
