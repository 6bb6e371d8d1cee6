import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import type { SecretLocation } from '../../../platform/vault/vault.ts';
import { mobileEvents, type MobilePlatform } from './events.ts';
import { DEFAULT_PREFERENCES, type MobilePreferences } from './preferences.ts';

/** Exact limit of devices of an administrator. */
export const MAX_MOBILE_DEVICES = 20;

export interface MobileDeviceState {
  readonly platform: MobilePlatform;
  readonly deviceName: string | null;
  readonly appVersion: string | null;
  readonly tokenRef: string;
  readonly tokenDigest: string;
}

export interface MobileAccountState {
  readonly devices: ReadonlyMap<string, MobileDeviceState>;
  readonly preferences: MobilePreferences;
}

const initial: MobileAccountState = { devices: new Map(), preferences: DEFAULT_PREFERENCES };

const withDevice = (
  state: MobileAccountState,
  deviceId: string,
  change: (before: MobileDeviceState | undefined) => MobileDeviceState | undefined,
): MobileAccountState => {
  const devices = new Map(state.devices);
  const after = change(devices.get(deviceId));
  if (after) devices.set(deviceId, after);
  else devices.delete(deviceId);
  return { ...state, devices };
};

export const mobileAccount = defineAggregate<MobileAccountState, typeof mobileEvents>(
  mobileEvents,
  initial,
  (state, event) => {
    switch (event.type) {
      case 'MobileDeviceRegistered': {
        const { deviceId, platform, deviceName, appVersion, tokenRef, tokenDigest } = event.data;
        return withDevice(state, deviceId, () => ({ platform, deviceName, appVersion, tokenRef, tokenDigest }));
      }
      case 'MobileDeviceRefreshed': {
        const { adminId: _account, deviceId, ...described } = event.data;
        return withDevice(state, deviceId, (before) => before && { ...before, ...described });
      }
      case 'MobileDeviceRemoved':
        return withDevice(state, event.data.deviceId, () => undefined);
      case 'MobilePreferencesSet':
        return { ...state, preferences: event.data.preferences };
      default:
        return state;
    }
  },
);

export const mobileAccountStream = (tenantId: TenantId, adminId: string): string =>
  streamName('mobileAccount', tenantId, adminId);

export const pushTokenLocation = (adminId: string): SecretLocation => ({
  owner: `mobileAccount/${adminId}`,
  field: 'pushToken',
});
