import { endMobileDevices } from '../../../../commands/mobile/end-mobile-devices.ts';
import { defineReaction, effect } from '../../../platform/kernel/reaction.ts';
import { tenantEvents } from '../../tenants/domain/events.ts';

/** Push tokens of an account that is gone are destroyed. */
export const whenAdminDeletedEndMobileDevices = defineReaction({
  name: 'when-admin-deleted-end-mobile-devices',
  lane: 'main',
  families: [tenantEvents],
  on: {
    AdminUserDeleted: ({ data: { adminId } }) => [{ effects: [effect(endMobileDevices, { adminId })] }],
  },
});
