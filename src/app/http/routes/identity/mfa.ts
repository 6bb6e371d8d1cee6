import { disableMfa } from '../../../../../commands/identity/disable-mfa.ts';
import { enableMfa } from '../../../../../commands/identity/enable-mfa.ts';
import { startMfaSetup } from '../../../../../commands/identity/start-mfa-setup.ts';
import { getAdminUser } from '../../../../../queries/admins/get-admin-user.ts';
import { mfaStatus } from '../../../../../queries/admins/mfa-status.ts';
import { tenantAdminAccounts } from '../../../../contexts/identity/account-kinds.ts';
import { admin, adminReauthenticated } from '../../access.ts';
import type { RouteGroup } from '../../route.ts';
import { accountMfaRoutes, type MfaRouteDependencies } from './account-mfa.ts';

/** The calling admin's own second factor. */
export const mfaRoutes: RouteGroup<MfaRouteDependencies> = {
  area: 'admin-me',
  routes: accountMfaRoutes({
    accounts: tenantAdminAccounts,
    path: '/api/v1/admin/mfa',
    access: { read: admin('self:read'), change: adminReauthenticated('self:write') },
    status: mfaStatus,
    account: getAdminUser,
    start: startMfaSetup,
    enable: enableMfa,
    disable: disableMfa,
    enableOperation: 'enableMfa',
  }),
};
