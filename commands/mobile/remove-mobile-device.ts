import { mobileAccount, mobileAccountStream } from '../../src/contexts/mobile/domain/mobile-account.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

interface RemoveMobileDevice {
  readonly adminId: string;
  readonly deviceId: string;
  readonly reason: 'unregistered' | 'token_gone';
}

/** Its push token is destroyed. */
export const removeMobileDevice = defineCommand({
  name: 'RemoveMobileDevice',
  aggregate: mobileAccount,
  stream: ({ adminId }: RemoveMobileDevice, { tenantId }) => mobileAccountStream(tenantId, adminId),
  decide({ devices }, data) {
    const device = devices.get(data.deviceId);
    if (!device) return notFound();
    return accept([{ type: 'MobileDeviceRemoved', data }], { forget: [device.tokenRef] });
  },
  freshens: ['mobile_devices'],
});
