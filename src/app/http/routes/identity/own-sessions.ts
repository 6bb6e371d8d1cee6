import { revokeOtherSessions } from '../../../../../commands/identity/revoke-other-sessions.ts';
import { listOwnSessions } from '../../../../../queries/identity/list-own-sessions.ts';
import { adminEvenUnlicensed } from '../../access.ts';
import type { RouteGroup } from '../../route.ts';
import { accountSessionRoutes, type SessionRouteDependencies } from './account-sessions.ts';

/** The sessions of the calling admin. */
export const ownSessionRoutes: RouteGroup<SessionRouteDependencies> = {
  area: 'admin-me',
  routes: accountSessionRoutes({
    path: '/api/v1/admin/me/sessions',
    access: { read: adminEvenUnlicensed('self:read'), change: adminEvenUnlicensed('self:write') },
    list: listOwnSessions,
    accounts: 'admin_users',
    isLive: async (lookups, tenantId, sessionId) => Boolean(await lookups.adminSession(tenantId, sessionId)),
    revokeOthers: revokeOtherSessions,
    operations: { list: 'listOwnSessions', endOthers: 'endOtherSessions', end: 'endOwnSession' },
  }),
};
