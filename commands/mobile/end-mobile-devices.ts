import { mobileAccount, mobileAccountStream } from '../../src/contexts/mobile/domain/mobile-account.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

interface EndMobileDevices {
  readonly adminId: string;
  readonly reason: 'account_deleted' | 'sessions_ended';
}

/** Removes all devices of an account. A device of somebody who had its session or password gets nothing any more. */
export const endMobileDevices = defineCommand({
  name: 'EndMobileDevices',
  aggregate: mobileAccount,
  stream: ({ adminId }: EndMobileDevices, { tenantId }) => mobileAccountStream(tenantId, adminId),
  decide: ({ devices }, { adminId, reason }) =>
    accept(
      [...devices.keys()].map((deviceId) => ({
        type: 'MobileDeviceRemoved' as const,
        data: { adminId, deviceId, reason },
      })),
      { forget: [...devices.values()].map(({ tokenRef }) => tokenRef) },
    ),
  freshens: ['mobile_devices'],
});
