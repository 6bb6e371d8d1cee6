import { mobileEvents, type MobilePlatform } from '../../src/contexts/mobile/domain/events.ts';
import {
  at,
  defineReadModel,
  id,
  nullable,
  text,
  timestamp,
  type Column,
  type Row,
} from '../../src/platform/kernel/read-model.ts';

const columns = {
  device_id: id,
  admin_id: id,
  platform: text as Column<MobilePlatform>,
  device_name: nullable(text),
  app_version: nullable(text),
  created_at: timestamp,
  /** When the app last registered its token. */
  last_used_at: timestamp,
};
export type MobileDeviceRow = Row<{ columns: typeof columns }>;

/** The devices that get pushes. Push tokens are in the vault; the account's events refer to them. */
export const mobileDevices = defineReadModel({
  name: 'mobile_devices',
  version: 1,
  lane: 'main',
  columns,
  key: ['device_id'],
  indexes: [['admin_id']],
  families: [mobileEvents],
  on: {
    MobileDeviceRegistered: (event) => ({
      key: { device_id: event.data.deviceId },
      begins: true,
      fold: () => ({
        device_id: event.data.deviceId,
        admin_id: event.data.adminId,
        platform: event.data.platform,
        device_name: event.data.deviceName,
        app_version: event.data.appVersion,
        created_at: at(event),
        last_used_at: at(event),
      }),
    }),
    MobileDeviceRefreshed: (event) => ({
      key: { device_id: event.data.deviceId },
      fold: (row) =>
        row && {
          ...row,
          platform: event.data.platform,
          device_name: event.data.deviceName,
          app_version: event.data.appVersion,
          last_used_at: at(event),
        },
    }),
    MobileDeviceRemoved: (event) => ({ key: { device_id: event.data.deviceId }, fold: () => undefined }),
  },
});
