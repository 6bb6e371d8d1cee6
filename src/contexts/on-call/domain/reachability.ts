import { lastBegun } from './schedule-history.ts';

export const availabilities = ['active', 'suspended', 'deleted'] as const;
/** Whether an administrator's account can be used. */
export type Availability = (typeof availabilities)[number];

/** From a moment (epoch milliseconds) on, until the next one. */
export interface AvailabilityChange {
  readonly from: number;
  readonly availability: Availability;
}

/** By administrator: the changes of their availability, from the oldest on. */
export type AvailabilityHistory = ReadonlyMap<string, readonly AvailabilityChange[]>;

/** An account that is not known at a moment cannot be reached: it is deleted, or was not there yet. */
export function availabilityAt(history: AvailabilityHistory, adminUserId: string, moment: number): Availability {
  const changes = history.get(adminUserId) ?? [];
  return changes[lastBegun(changes, moment)]?.availability ?? 'deleted';
}

interface Unreachable {
  readonly reason: Exclude<Availability, 'active'>;
  readonly startsAt: number;
  readonly endsAt: number;
}

/** The parts of an interval in which an administrator cannot be reached. */
export function unreachableTimes(
  history: AvailabilityHistory,
  adminUserId: string,
  from: number,
  to: number,
): Unreachable[] {
  const changes = history.get(adminUserId) ?? [];
  const times: Unreachable[] = [];
  for (let moment = from; moment < to;) {
    const until = Math.min(to, changes[lastBegun(changes, moment) + 1]?.from ?? to);
    const availability = availabilityAt(history, adminUserId, moment);
    if (availability !== 'active') times.push({ reason: availability, startsAt: moment, endsAt: until });
    moment = until;
  }
  return times;
}
