import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import { telemetryEvents, type TelemetryEvent } from './events.ts';
import { noIds, withIds, type SeenIds } from './seen-ids.ts';

export type Heartbeat = Extract<TelemetryEvent, { type: 'DeviceHeartbeatRecorded' }>['data'];

/** What decisions about one device's day need: what it reported already, and its latest sign of life. */
export interface DeviceDayState {
  readonly seen: SeenIds;
  readonly heartbeat: Heartbeat | undefined;
  /** Epoch milliseconds of the latest heartbeat that was recorded. */
  readonly heartbeatAt: number;
  /** How many were recorded. */
  readonly heartbeats: number;
  /** The latest numbers that the device gave its batches. */
  readonly sequences: readonly number[];
  /** What refused fields sounded like. */
  readonly secretWords: readonly string[];
}

const initial: DeviceDayState = {
  seen: noIds,
  heartbeat: undefined,
  heartbeatAt: 0,
  heartbeats: 0,
  sequences: [],
  secretWords: [],
};

const SEQUENCES_KEPT = 256;
const withSequence = (sequences: readonly number[], number: number | null): readonly number[] =>
  number === null || sequences.includes(number) ? sequences : [...sequences.slice(1 - SEQUENCES_KEPT), number];

export const deviceDay = defineAggregate<DeviceDayState, typeof telemetryEvents>(
  telemetryEvents,
  initial,
  (state, event) => {
    switch (event.type) {
      case 'TelemetryRecorded':
        return {
          ...state,
          seen: withIds(
            state.seen,
            event.data.observations.map(({ eventId }) => eventId),
          ),
          sequences: withSequence(state.sequences, event.data.deviceSequence),
        };
      case 'TelemetryRefused':
        return {
          ...state,
          sequences: withSequence(state.sequences, event.data.deviceSequence),
          secretWords: [...new Set([...state.secretWords, ...event.data.secretWords])],
        };
      case 'DeviceHeartbeatRecorded':
        return {
          ...state,
          heartbeat: event.data,
          heartbeatAt: Date.parse(event.data.receivedAt),
          heartbeats: state.heartbeats + 1,
        };
    }
  },
);

/** `day` is a UTC day, `YYYY-MM-DD`: of the observations themselves, so that a batch that is sent again meets itself. */
export const deviceDayStream = (tenantId: TenantId, deviceId: string, day: string): string =>
  streamName('deviceDay', tenantId, `${deviceId}/${day}`);
