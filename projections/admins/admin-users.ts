import {
  accountColumns,
  accountFolds,
  changeOf,
  newAccountRow,
} from '../../src/contexts/identity/domain/account-rows.ts';
import type { AdminRole } from '../../src/contexts/identity/domain/roles.ts';
import { loginEvents } from '../../src/contexts/identity/domain/login-events.ts';
import { tenantEvents } from '../../src/contexts/tenants/domain/events.ts';
import { defineReadModel, flag, text, type Column, type Row } from '../../src/platform/kernel/read-model.ts';

const {
  admin_id,
  email,
  display_name,
  session_epoch,
  kept_session_id,
  last_login_at,
  created_at,
  updated_at,
  ...state
} = accountColumns;
/** In the order of the table's columns. */
const columns = {
  admin_id,
  email,
  display_name,
  role_type: text as Column<AdminRole>,
  ...state,
  mobile_access: flag,
  session_epoch,
  kept_session_id,
  last_login_at,
  created_at,
  updated_at,
};
export type AdminUserRow = Row<{ columns: typeof columns }>;

const change = changeOf<AdminUserRow>();
const { touched, ...folds } = accountFolds;

/** Admins as `GET /admin-users` and `GET /me` show them, and the names behind assignments. */
export const adminUsers = defineReadModel({
  name: 'admin_users',
  version: 2,
  lane: 'main',
  columns,
  key: ['admin_id'],
  families: [tenantEvents, loginEvents],
  on: {
    AdminUserCreated: (event) => ({
      key: { admin_id: event.data.adminId },
      fold: () => ({ ...newAccountRow(event), role_type: event.data.roleType, mobile_access: true }),
    }),
    AdminUserUpdated: change(folds.renamed),
    AdminRoleChanged: change((row, event) => ({ ...touched(row, event), role_type: event.data.roleType })),
    AdminSuspended: change(folds.suspended),
    AdminReinstated: change(folds.reinstated),
    AdminPasswordChanged: change(folds.passwordChanged),
    AdminMobileAccessSet: change((row, event) => ({ ...touched(row, event), mobile_access: event.data.mobileAccess })),
    AdminSessionsRevoked: change(folds.sessionsRevoked),
    AdminOtherSessionsRevoked: change(folds.otherSessionsRevoked),
    AdminMfaEnabled: change((row, event) => touched(folds.mfaEnabled(row, event), event)),
    AdminBackupCodeUsed: change(folds.backupCodeUsed),
    AdminMfaDisabled: change((row, event) => touched(folds.mfaDisabled(row, event), event)),
    AdminUserDeleted: change(() => undefined),
    LoginSucceeded: (event) => ({
      key: { admin_id: event.data.subjectId },
      fold: (row: AdminUserRow | undefined) => row && folds.signedIn(row, event),
    }),
  },
});
