import { deviceEvents } from '../../src/contexts/devices/domain/events.ts';
import { employeeEvents } from '../../src/contexts/employees/domain/events.ts';
import { ERRORS_PER_HOUR } from '../../src/contexts/extension-rollouts/domain/error-rates.ts';
import { extensionRolloutEvents } from '../../src/contexts/extension-rollouts/domain/events.ts';
import { telemetryEvents } from '../../src/contexts/telemetry/domain/events.ts';
import { defineReadModel, id, integer, nullable, text, type Row } from '../../src/platform/kernel/read-model.ts';

const columns = {
  rollout_id: id,
  device_id: id,
  user_id: id,
  round: integer,
  /** With the new version: hours with a heartbeat, errors that count, the latest hour and its errors that count. */
  candidate_hours: integer,
  candidate_errors: integer,
  candidate_hour: nullable(text),
  candidate_hour_errors: integer,
  /** The same with any other version. */
  baseline_hours: integer,
  baseline_errors: integer,
  baseline_hour: nullable(text),
  baseline_hour_errors: integer,
};
export type ExtensionRolloutDeviceRow = Row<{ columns: typeof columns }>;

interface Counted {
  readonly hours: number;
  readonly errors: number;
  readonly hour: string | null;
  readonly hourErrors: number;
}

/** An hour counts once, and so many of its errors. Hours of devices never go back, as they are the service's. */
function afterHeartbeat(counted: Counted, receivedAt: string, reported: number): Counted {
  const hour = receivedAt.slice(0, 13);
  const isSame = counted.hour === hour;
  const before = isSame ? counted.hourErrors : 0;
  const hourErrors = Math.min(before + reported, ERRORS_PER_HOUR);
  return {
    hours: counted.hours + (isSame ? 0 : 1),
    errors: counted.errors + hourErrors - before,
    hour,
    hourErrors,
  };
}

const NOTHING = {
  candidate_hours: 0,
  candidate_errors: 0,
  candidate_hour: null,
  candidate_hour_errors: 0,
  baseline_hours: 0,
  baseline_errors: 0,
  baseline_hour: null,
  baseline_hour_errors: 0,
} as const;

type Counts = Omit<ExtensionRolloutDeviceRow, 'rollout_id' | 'device_id' | 'user_id' | 'round'>;

const onlyCounts = (counts: Counts): Counts => ({
  candidate_hours: counts.candidate_hours,
  candidate_errors: counts.candidate_errors,
  candidate_hour: counts.candidate_hour,
  candidate_hour_errors: counts.candidate_hour_errors,
  baseline_hours: counts.baseline_hours,
  baseline_errors: counts.baseline_errors,
  baseline_hour: counts.baseline_hour,
  baseline_hour_errors: counts.baseline_hour_errors,
});

function counted(counts: Counts, isCandidate: boolean, receivedAt: string, errors: number): Counts {
  const of = isCandidate ? ('candidate' as const) : ('baseline' as const);
  const after = afterHeartbeat(
    {
      hours: counts[`${of}_hours`],
      errors: counts[`${of}_errors`],
      hour: counts[`${of}_hour`],
      hourErrors: counts[`${of}_hour_errors`],
    },
    receivedAt,
    errors,
  );
  return {
    ...onlyCounts(counts),
    [`${of}_hours`]: after.hours,
    [`${of}_errors`]: after.errors,
    [`${of}_hour`]: after.hour,
    [`${of}_hour_errors`]: after.hourErrors,
  };
}

/** Errors by device and version, while a rollout is live. A device has one row in it, whatever it reports. */
export const extensionRolloutDevices = defineReadModel({
  name: 'extension_rollout_devices',
  version: 1,
  lane: 'telemetry',
  columns,
  key: ['rollout_id', 'device_id'],
  families: [telemetryEvents, extensionRolloutEvents, deviceEvents, employeeEvents],
  on: {
    DeviceHeartbeatRecorded: ({ data: { deviceId, userId, receivedAt, errors, rollout } }) =>
      rollout === null
        ? []
        : {
            key: { rollout_id: rollout.rolloutId, device_id: deviceId },
            fold: (row) => {
              const { rolloutId, round, isCandidate } = rollout;
              // A heartbeat of an earlier round may be recorded after the rollout was resumed.
              if (row && row.round > round) return row;
              const key = { rollout_id: rolloutId, device_id: deviceId, user_id: userId, round };
              return { ...key, ...counted(row?.round === round ? row : NOTHING, isCandidate, receivedAt, errors) };
            },
          },
    // The events of the end hold what was decided by.
    ExtensionRolloutCompleted: ({ data: { rolloutId } }) => ({ purge: { rollout_id: rolloutId } }),
    ExtensionRolloutRolledBack: ({ data: { rolloutId } }) => ({ purge: { rollout_id: rolloutId } }),
    DeviceDeleted: ({ data: { deviceId } }) => ({ purge: { device_id: deviceId } }),
    EmployeeErased: ({ data: { userId } }) => ({ purge: { user_id: userId } }),
  },
});
