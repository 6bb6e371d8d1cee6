import { z } from 'zod';
import { mobileDevices, type MobileDeviceRow } from '../../projections/mobile/mobile-devices.ts';
import { MAX_MOBILE_DEVICES } from '../../src/contexts/mobile/domain/mobile-account.ts';
import { mobilePlatforms } from '../../src/contexts/mobile/domain/events.ts';
import type { RecordedEvent } from '../../src/platform/kernel/event.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';
import { newRow } from '../../src/platform/kernel/new-row.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

/** OP-190, without the push token. */
export const mobileDeviceView = z
  .object({
    id: z.uuid(),
    platform: z.enum(mobilePlatforms),
    deviceName: z.string().nullable(),
    appVersion: z.string().nullable(),
    createdAt: z.iso.datetime(),
    lastUsedAt: z.iso.datetime(),
  })
  .meta({ title: 'MobileDevice' });
type MobileDeviceView = z.output<typeof mobileDeviceView>;

const toView = (row: MobileDeviceRow): MobileDeviceView => ({
  id: row.device_id,
  platform: row.platform,
  deviceName: row.device_name,
  appVersion: row.app_version,
  createdAt: row.created_at,
  lastUsedAt: row.last_used_at,
});

interface OfAdmin {
  readonly adminId: string;
}

export const listMobileDevices: Query<OfAdmin, { devices: MobileDeviceView[]; total: number }> = async (
  reads,
  { adminId },
) => {
  const rows = await reads.rows<MobileDeviceRow>(
    `select * from mobile_devices where tenant_id = $1 and admin_id = $2
      order by created_at desc, device_id limit ${MAX_MOBILE_DEVICES}`,
    [adminId],
  );
  return { devices: rows.map(toView), total: rows.length };
};

export const getMobileDevice: Query<OfAdmin & { deviceId: string }, MobileDeviceView> = async (
  reads,
  { adminId, deviceId },
) => {
  const row = await reads.one<MobileDeviceRow>(
    'select * from mobile_devices where tenant_id = $1 and admin_id = $2 and device_id = $3',
    [adminId, deviceId],
  );
  return row ? toView(row) : notFound();
};

/** From the event that registered it. */
export const viewOfNewMobileDevice =
  (deviceId: string) =>
  (events: readonly RecordedEvent[]): MobileDeviceView | undefined => {
    const row = newRow(mobileDevices, { device_id: deviceId }, events);
    return row && toView(row);
  };
