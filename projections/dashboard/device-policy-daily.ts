import { telemetryEvents } from '../../src/contexts/telemetry/domain/events.ts';
import { day, defineReadModel, id, nullable, text, timestamp, type Row } from '../../src/platform/kernel/read-model.ts';

const columns = { day, device_id: id, policy_version: nullable(text), received_at: timestamp };
export type DevicePolicyDailyRow = Row<{ columns: typeof columns }>;

/** The policy version of a device at its last heartbeat of a UTC day. */
export const devicePolicyDaily = defineReadModel({
  name: 'device_policy_daily',
  version: 1,
  lane: 'telemetry',
  columns,
  key: ['day', 'device_id'],
  indexes: [['day', 'policy_version']],
  families: [telemetryEvents],
  on: {
    DeviceHeartbeatRecorded: ({ data: { deviceId, receivedAt, policyVersion } }) => {
      const key = { day: receivedAt.slice(0, 10), device_id: deviceId };
      const heard = { ...key, policy_version: policyVersion, received_at: receivedAt };
      return {
        key,
        fold: (row: DevicePolicyDailyRow | undefined) =>
          row && row.received_at >= receivedAt
            ? row
            : { ...heard, policy_version: policyVersion ?? row?.policy_version ?? null },
      };
    },
  },
});
