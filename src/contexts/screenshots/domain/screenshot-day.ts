import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import { conflict, type Failure } from '../../../platform/kernel/failure.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import { screenshotEvents } from './events.ts';

/** State for decisions about one device's day: its screenshots and their observations. */
export interface ScreenshotDayState {
  readonly eventOf: ReadonlyMap<string, string>;
}

export const screenshotDay = defineAggregate<ScreenshotDayState, typeof screenshotEvents>(
  screenshotEvents,
  { eventOf: new Map() },
  (state, event) => ({
    eventOf: new Map(state.eventOf).set(event.data.screenshotId, event.data.eventId),
  }),
);

export const screenshotDayStream = (tenantId: TenantId, deviceId: string, day: string): string =>
  streamName('screenshotDay', tenantId, `${deviceId}/${day}`);

const MAX_OF_AN_EVENT = 10;

/**
 * Why no further image of this observation is accepted; undefined if it is. The number per device is limited by arrival
 * budgets.
 */
export function screenshotLimitReason({ eventOf }: ScreenshotDayState, eventId: string): Failure | undefined {
  const ofEvent = [...eventOf.values()].filter((id) => id === eventId).length;
  return ofEvent >= MAX_OF_AN_EVENT
    ? conflict('limit_reached', 'the event already has the maximum number of screenshots')
    : undefined;
}
