import type { MobilePlatform } from '../../src/contexts/mobile/domain/events.ts';
import {
  MAX_MOBILE_DEVICES,
  mobileAccount,
  mobileAccountStream,
  pushTokenLocation,
} from '../../src/contexts/mobile/domain/mobile-account.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict } from '../../src/platform/kernel/failure.ts';
import type { WithPushTokenDigest, WithVault } from '../ports.ts';

interface RegisterMobileDevice {
  readonly adminId: string;
  readonly pushToken: string;
  readonly platform: MobilePlatform;
  readonly deviceName: string | null;
  readonly appVersion: string | null;
}

interface Facts {
  readonly tokenRef: string;
  readonly tokenDigest: string;
}

interface Registered {
  readonly deviceId: string;
  readonly isNew: boolean;
}

/** A new device's id is that of the command. A token that the account has already updates its device (OP-190). */
export const registerMobileDevice = defineCommand({
  name: 'RegisterMobileDevice',
  aggregate: mobileAccount,
  stream: ({ adminId }: RegisterMobileDevice, { tenantId }) => mobileAccountStream(tenantId, adminId),
  prepare: async (
    { adminId, pushToken }: RegisterMobileDevice,
    { vault, pushTokenDigest }: WithVault & WithPushTokenDigest,
    { tenantId },
  ): Promise<Facts> => ({
    tokenDigest: pushTokenDigest(tenantId, pushToken),
    tokenRef: await vault.put(tenantId, pushTokenLocation(adminId), pushToken),
  }),
  decide({ devices }, { adminId, platform, deviceName, appVersion }, { id }, { tokenRef, tokenDigest }: Facts) {
    const known = [...devices].find(([, device]) => device.tokenDigest === tokenDigest);
    if (!known && devices.size >= MAX_MOBILE_DEVICES)
      return conflict('limit_reached', `no more than ${MAX_MOBILE_DEVICES} devices of an administrator`);
    const deviceId = known ? known[0] : id;
    const data = { adminId, deviceId, platform, deviceName, appVersion, tokenRef };
    const result: Registered = { deviceId, isNew: !known };
    return known
      ? acceptWith(result, [{ type: 'MobileDeviceRefreshed', data }], { forget: [known[1].tokenRef] })
      : acceptWith(result, [{ type: 'MobileDeviceRegistered', data: { ...data, tokenDigest } }]);
  },
  recall: (_before, [event]): Registered => {
    const { type, data } = event as Extract<typeof event, { data: { deviceId: string } }>;
    return { deviceId: data.deviceId, isNew: type === 'MobileDeviceRegistered' };
  },
  freshens: ['mobile_devices'],
});
