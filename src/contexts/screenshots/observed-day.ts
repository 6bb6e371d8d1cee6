import { deviceDay, deviceDayStream } from '../telemetry/domain/device-day.ts';
import { hasId } from '../telemetry/domain/seen-ids.ts';
import type { AggregateReader } from '../../platform/kernel/aggregate.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import { dayOf } from '../../platform/kernel/read-model.ts';

const DAY_MS = 86_400_000;

/**
 * The day on which this device reported the observation, at most one day from the time of the image; undefined if it
 * did not. Reads the device's own streams, because an image may follow its report at once.
 */
export async function observedDay(
  aggregates: AggregateReader,
  tenantId: TenantId,
  deviceId: string,
  eventId: string,
  near: number,
): Promise<string | undefined> {
  for (const day of [near, near - DAY_MS, near + DAY_MS].map(dayOf)) {
    const { seen } = await aggregates.load(deviceDay, deviceDayStream(tenantId, deviceId, day));
    if (hasId(seen, eventId)) return day;
  }
  return undefined;
}
