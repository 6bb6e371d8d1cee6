import {
  newAccount,
  secretLocationsOf,
  withBackupCodeUsed,
  withMfa,
  withoutMfa,
  withoutSessions,
  withPassword,
  type AccountState,
} from '../../identity/domain/account.ts';
import type { AdminRole } from '../../identity/domain/roles.ts';
import type { TenantEvent } from './events.ts';

/** The state that decisions about an admin need. Name and e-mail are not included: uniqueness is a claim. */
export interface AdminState extends AccountState {
  readonly role: AdminRole;
  readonly mobileAccess: boolean;
}

type AdminCreated = Extract<TenantEvent, { type: 'AdminUserCreated' }>['data'];

export const newAdmin = (data: AdminCreated): AdminState => ({
  ...newAccount(data),
  role: data.roleType,
  mobileAccess: true,
});

/** Folds an event of the tenant's stream into the admin that it names. */
export function foldAdmin(admin: AdminState, event: TenantEvent): AdminState {
  switch (event.type) {
    case 'AdminUserUpdated':
      return { ...admin, accountDigest: event.data.accountDigest ?? admin.accountDigest };
    case 'AdminRoleChanged':
      return { ...admin, role: event.data.roleType };
    case 'AdminSuspended':
      return { ...withoutSessions(admin), status: 'suspended' };
    case 'AdminReinstated':
      return { ...admin, status: 'active' };
    case 'AdminPasswordChanged':
      return withPassword(admin, event.data);
    case 'AdminMobileAccessSet':
      return { ...admin, mobileAccess: event.data.mobileAccess };
    case 'AdminSessionsRevoked':
      return withoutSessions(admin);
    case 'AdminOtherSessionsRevoked':
      return withoutSessions(admin, event.data.keptSessionId);
    case 'AdminMfaSetupStarted':
      return { ...admin, pendingTotpSecretRef: event.data.totpSecretRef };
    case 'AdminMfaEnabled':
      return withMfa(admin, event.data);
    case 'AdminBackupCodeUsed':
      return withBackupCodeUsed(admin, event.data);
    case 'AdminMfaDisabled':
      return withoutMfa(admin);
    default:
      return admin;
  }
}

/** Vault locations of an admin's secrets. */
export const adminSecretLocations = secretLocationsOf('admin');
export const adminPasswordLocation = adminSecretLocations.password;
