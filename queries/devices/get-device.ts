import { notFound } from '../../src/platform/kernel/failure.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import { toDeviceView, SELECT_DEVICES, type DeviceWithDetails, type DeviceView } from './device-view.ts';

const SQL = `select * from ${SELECT_DEVICES} d where d.tenant_id = $1 and d.device_id = $2`;

export const getDevice: Query<{ deviceId: string }, DeviceView> = async (reads, { deviceId }) => {
  const row = await reads.one<DeviceWithDetails>(SQL, [deviceId]);
  return row ? toDeviceView(row) : notFound();
};
