import { defineAggregate, streamName } from '../../kernel/aggregate.ts';
import type { TenantId } from '../../kernel/ids.ts';
import { telemetryEvents, type TelemetryEvent } from './events.ts';
import { noIds, withIds, type SeenIds } from './seen-ids.ts';

export type Heartbeat = Extract<TelemetryEvent, { type: 'DeviceHeartbeatRecorded' }>['data'];

/** What decisions about one device's day need: what it reported already, and its latest sign of life. */
export interface DeviceDayState {
  readonly seen: SeenIds;
  readonly heartbeat: Heartbeat | undefined;
  /** Epoch milliseconds of the latest heartbeat that was recorded. */
  readonly heartbeatAt: number;
}

const initial: DeviceDayState = { seen: noIds, heartbeat: undefined, heartbeatAt: 0 };

export const deviceDay = defineAggregate<DeviceDayState, typeof telemetryEvents>(telemetryEvents, initial, (state, event) => {
  switch (event.type) {
    case 'TelemetryRecorded':
      return { ...state, seen: withIds(state.seen, event.data.observations.map(({ eventId }) => eventId)) };
    case 'DeviceHeartbeatRecorded':
      return { ...state, heartbeat: event.data, heartbeatAt: Date.parse(event.data.receivedAt) };
  }
});

/** `day` is a UTC day, `YYYY-MM-DD`: of the observations themselves, so that a batch that is sent again meets itself. */
export const deviceDayStream = (tenantId: TenantId, deviceId: string, day: string): string =>
  streamName('deviceDay', tenantId, `${deviceId}/${day}`);
