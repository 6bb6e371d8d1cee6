import { endMobileDevices } from '../../../../commands/mobile/end-mobile-devices.ts';
import { defineReaction, effect } from '../../../platform/kernel/reaction.ts';
import { tenantEvents } from '../../tenants/domain/events.ts';

const ending = (adminId: string, reason: 'account_deleted' | 'sessions_ended') => [
  { effects: [effect(endMobileDevices, { adminId, reason })] },
];

/**
 * Push tokens of an account that is gone are destroyed. So are those of an account whose sessions are all ended, by a
 * password reset or a recovery: whoever had taken it over may have registered one. The owner's app registers itself
 * again at the next sign-in.
 */
export const whenAdminDeletedEndMobileDevices = defineReaction({
  name: 'when-admin-deleted-end-mobile-devices',
  lane: 'main',
  families: [tenantEvents],
  on: {
    AdminUserDeleted: ({ data: { adminId } }) => ending(adminId, 'account_deleted'),
    AdminSessionsRevoked: ({ data: { adminId } }) => ending(adminId, 'sessions_ended'),
  },
});
