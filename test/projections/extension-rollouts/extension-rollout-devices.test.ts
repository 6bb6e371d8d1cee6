import { describe, expect, it } from 'vitest';
import {
  extensionRolloutDevices,
  type ExtensionRolloutDeviceRow,
} from '../../../projections/extension-rollouts/extension-rollout-devices.ts';
import type { ExtensionRolloutEvent } from '../../../src/contexts/extension-rollouts/domain/events.ts';
import type { TelemetryEvent } from '../../../src/contexts/telemetry/domain/events.ts';
import { recorded, rowsAfter } from '../../dsl/given.ts';
import { DEVICE, USER } from '../../commands/devices/histories.ts';

const rolloutId = '77777777-7777-4777-8777-777777777777';
const heartbeat = (
  minutes: number,
  errors: number,
  over: { isCandidate?: boolean; round?: number } = {},
): TelemetryEvent => ({
  type: 'DeviceHeartbeatRecorded',
  data: {
    deviceId: DEVICE,
    userId: USER,
    receivedAt: new Date(Date.parse('2026-06-01T12:00:00.000Z') + minutes * 60_000).toISOString(),
    extensionVersion: '2.1.0',
    browserVersion: null,
    osVersion: null,
    policyVersion: null,
    errors,
    rollout: { rolloutId, round: 1, isCandidate: true, ...over },
  },
});
const rows = (...events: (TelemetryEvent | ExtensionRolloutEvent)[]) =>
  rowsAfter(
    extensionRolloutDevices,
    events.map((event, index) => recorded(event, index + 1)),
  ) as ExtensionRolloutDeviceRow[];

describe('the devices of a rollout', () => {
  it('count an hour once, and its errors', () => {
    expect(rows(heartbeat(0, 1), heartbeat(5, 2), heartbeat(61, 0))).toMatchObject([
      { device_id: DEVICE, candidate_hours: 2, candidate_errors: 3, baseline_hours: 0, baseline_errors: 0 },
    ]);
  });
  it('count at most ten errors of a device in an hour', () => {
    expect(rows(heartbeat(0, 1_000_000), heartbeat(5, 1_000_000), heartbeat(65, 7))).toMatchObject([
      { candidate_hours: 2, candidate_errors: 17 },
    ]);
  });
  it('count for the version that the device had', () => {
    expect(rows(heartbeat(0, 3, { isCandidate: false }), heartbeat(5, 2))).toMatchObject([
      { candidate_hours: 1, candidate_errors: 2, baseline_hours: 1, baseline_errors: 3 },
    ]);
  });
  it('begin again in another round, and ignore what comes late from the one before', () => {
    expect(rows(heartbeat(0, 5), heartbeat(5, 1, { round: 2 }), heartbeat(6, 5))).toMatchObject([
      { round: 2, candidate_hours: 1, candidate_errors: 1 },
    ]);
  });
  it('are forgotten at the end of the rollout', () => {
    const decidedAt = '2026-06-02T12:00:00.000Z';
    expect(
      rows(heartbeat(0, 5), {
        type: 'ExtensionRolloutCompleted',
        data: { rolloutId, decidedAt, stage: 0, figures: null },
      }),
    ).toEqual([]);
  });
  it('are none without a rollout', () => {
    const { type, data } = heartbeat(0, 5) as Extract<TelemetryEvent, { type: 'DeviceHeartbeatRecorded' }>;
    expect(rows({ type, data: { ...data, rollout: null } })).toEqual([]);
  });
});
