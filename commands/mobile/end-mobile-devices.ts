import { mobileAccount, mobileAccountStream } from '../../src/contexts/mobile/domain/mobile-account.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

interface EndMobileDevices {
  readonly adminId: string;
}

/** Removes all devices of an account that was deleted. */
export const endMobileDevices = defineCommand({
  name: 'EndMobileDevices',
  aggregate: mobileAccount,
  stream: ({ adminId }: EndMobileDevices, { tenantId }) => mobileAccountStream(tenantId, adminId),
  decide: ({ devices }, { adminId }) =>
    accept(
      [...devices.keys()].map((deviceId) => ({
        type: 'MobileDeviceRemoved' as const,
        data: { adminId, deviceId, reason: 'account_deleted' as const },
      })),
      { forget: [...devices.values()].map(({ tokenRef }) => tokenRef) },
    ),
  freshens: ['mobile_devices'],
});
