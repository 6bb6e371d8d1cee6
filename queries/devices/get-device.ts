import { notFound } from '../../src/platform/kernel/failure.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import { deviceOf, DEVICES_AS_SEEN, type DeviceAsSeen, type DeviceView } from './device-view.ts';

const SQL = `select * from ${DEVICES_AS_SEEN} d where d.tenant_id = $1 and d.device_id = $2`;

export const getDevice: Query<{ deviceId: string }, DeviceView> = async (reads, { deviceId }) => {
  const row = await reads.one<DeviceAsSeen>(SQL, [deviceId]);
  return row ? deviceOf(row) : notFound();
};
