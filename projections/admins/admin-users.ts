import type { AdminRole } from '../../src/contexts/identity/domain/roles.ts';
import { loginEvents } from '../../src/contexts/identity/domain/login-events.ts';
import { tenantEvents } from '../../src/contexts/tenants/domain/events.ts';
import {
  at,
  defineReadModel,
  flag,
  id,
  integer,
  nullable,
  text,
  timestamp,
  type Column,
  type Row,
} from '../../src/platform/kernel/read-model.ts';

const columns = {
  admin_id: id,
  email: text,
  display_name: text,
  role_type: text as Column<AdminRole>,
  status: text as Column<'active' | 'suspended'>,
  mfa_enabled: flag,
  mfa_enabled_at: nullable(timestamp),
  backup_codes_remaining: integer,
  must_change_password: flag,
  mobile_access: flag,
  /** As decisions see it: sessions of an older epoch are revoked. */
  session_epoch: integer,
  kept_session_id: nullable(id),
  last_login_at: nullable(timestamp),
  created_at: timestamp,
  updated_at: timestamp,
};
export type AdminUserRow = Row<{ columns: typeof columns }>;

const change = (adminId: string, fold: (row: AdminUserRow) => AdminUserRow | undefined) => ({
  key: { admin_id: adminId },
  fold: (row: AdminUserRow | undefined) => row && fold(row),
});

const withoutSessions = (row: AdminUserRow, kept: string | null = null): AdminUserRow => ({
  ...row,
  session_epoch: row.session_epoch + 1,
  kept_session_id: kept,
});

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
      fold: () => ({
        admin_id: event.data.adminId,
        email: event.data.email,
        display_name: event.data.displayName,
        role_type: event.data.roleType,
        status: 'active',
        mfa_enabled: false,
        mfa_enabled_at: null,
        backup_codes_remaining: 0,
        must_change_password: event.data.mustChangePassword,
        mobile_access: true,
        session_epoch: 0,
        kept_session_id: null,
        last_login_at: null,
        created_at: at(event),
        updated_at: at(event),
      }),
    }),
    AdminUserUpdated: (event) =>
      change(event.data.adminId, (row) => ({
        ...row,
        email: event.data.email ?? row.email,
        display_name: event.data.displayName ?? row.display_name,
        updated_at: at(event),
      })),
    AdminRoleChanged: (event) =>
      change(event.data.adminId, (row) => ({ ...row, role_type: event.data.roleType, updated_at: at(event) })),
    AdminSuspended: (event) =>
      change(event.data.adminId, (row) => ({ ...withoutSessions(row), status: 'suspended', updated_at: at(event) })),
    AdminReinstated: (event) =>
      change(event.data.adminId, (row) => ({ ...row, status: 'active', updated_at: at(event) })),
    AdminPasswordChanged: (event) =>
      change(event.data.adminId, (row) => ({
        ...row,
        must_change_password: event.data.mustChangePassword,
        updated_at: at(event),
      })),
    AdminMobileAccessSet: (event) =>
      change(event.data.adminId, (row) => ({ ...row, mobile_access: event.data.mobileAccess, updated_at: at(event) })),
    AdminSessionsRevoked: (event) => change(event.data.adminId, (row) => withoutSessions(row)),
    AdminOtherSessionsRevoked: (event) =>
      change(event.data.adminId, (row) => withoutSessions(row, event.data.keptSessionId)),
    AdminMfaEnabled: (event) =>
      change(event.data.adminId, (row) => ({
        ...row,
        mfa_enabled: true,
        mfa_enabled_at: at(event),
        backup_codes_remaining: event.data.backupCodes,
        updated_at: at(event),
      })),
    AdminBackupCodeUsed: (event) =>
      change(event.data.adminId, (row) => ({ ...row, backup_codes_remaining: row.backup_codes_remaining - 1 })),
    AdminMfaDisabled: (event) =>
      change(event.data.adminId, (row) => ({
        ...row,
        mfa_enabled: false,
        mfa_enabled_at: null,
        backup_codes_remaining: 0,
        updated_at: at(event),
      })),
    AdminUserDeleted: (event) => change(event.data.adminId, () => undefined),
    LoginSucceeded: (event) => change(event.data.subjectId, (row) => ({ ...row, last_login_at: at(event) })),
  },
});
