import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import { telemetryEvents, type TelemetryEvent } from './events.ts';
import { noIds, withIds, type SeenIds } from './seen-ids.ts';

export type Heartbeat = Extract<TelemetryEvent, { type: 'DeviceHeartbeatRecorded' }>['data'];

/** State for decisions about one device's day: the ids already reported, and the latest heartbeat. */
export interface DeviceDayState {
  readonly seen: SeenIds;
  readonly heartbeat: Heartbeat | undefined;
  /** Epoch milliseconds of the latest heartbeat that was recorded. */
  readonly heartbeatAt: number;
  /** Number of recorded heartbeats. */
  readonly heartbeats: number;
  /** The latest batch numbers of the device. */
  readonly sequences: readonly number[];
  /** The words by which refused fields were recognized. */
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

/**
 * `day` is a UTC day, `YYYY-MM-DD`, of the observations themselves. So a repeated batch reaches the stream of its first
 * copy.
 */
export const deviceDayStream = (tenantId: TenantId, deviceId: string, day: string): string =>
  streamName('deviceDay', tenantId, `${deviceId}/${day}`);
