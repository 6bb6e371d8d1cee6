import { deviceEvents } from '../../src/contexts/devices/domain/events.ts';
import { employeeEvents } from '../../src/contexts/employees/domain/events.ts';
import { telemetryEvents } from '../../src/contexts/telemetry/domain/events.ts';
import {
  withBatchCounted,
  missingBatches,
  type SequenceRange,
} from '../../src/contexts/telemetry/domain/sequence-gaps.ts';
import { bigint, defineReadModel, id, json, type Row } from '../../src/platform/kernel/read-model.ts';

const columns = {
  device_id: id,
  user_id: id,
  last_sequence: bigint,
  missing: json<readonly SequenceRange[]>(),
  unlisted: bigint,
  missing_batches: bigint,
};
export type DeviceSequenceRow = Row<{ columns: typeof columns }>;

const heard = ({
  data: { deviceId, userId, deviceSequence },
}: {
  data: { deviceId: string; userId: string; deviceSequence: number | null };
}) =>
  deviceSequence === null
    ? []
    : {
        key: { device_id: deviceId },
        fold: (row: DeviceSequenceRow | undefined): DeviceSequenceRow => {
          const known = row && { last: row.last_sequence, missing: row.missing, unlisted: row.unlisted };
          const sequence = withBatchCounted(known, deviceSequence);
          const { last: last_sequence, missing, unlisted } = sequence;
          return {
            device_id: deviceId,
            user_id: userId,
            last_sequence,
            missing,
            unlisted,
            missing_batches: missingBatches(sequence),
          };
        },
      };

const forgotten = ({ data: { deviceId } }: { data: { deviceId: string } }) => ({
  key: { device_id: deviceId },
  fold: () => undefined,
});

/** Batches that a device counted but that never arrived: lost or withheld telemetry. */
export const deviceSequences = defineReadModel({
  name: 'device_sequences',
  version: 2,
  lane: 'telemetry',
  columns,
  key: ['device_id'],
  indexes: [['user_id']],
  families: [telemetryEvents, deviceEvents, employeeEvents],
  on: {
    TelemetryRecorded: heard,
    TelemetryRefused: heard,
    // Re-enrollment restarts the count.
    DeviceEnrolled: forgotten,
    DeviceDeleted: forgotten,
    EmployeeErased: ({ data: { userId } }) => ({ purge: { user_id: userId } }),
  },
});
