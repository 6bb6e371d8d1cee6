import type { OrgRole } from '../../src/contexts/identity/domain/roles.ts';
import { loginEvents } from '../../src/contexts/identity/domain/login-events.ts';
import { organizationEvents } from '../../src/contexts/organizations/domain/events.ts';
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
  role: text as Column<OrgRole>,
  status: text as Column<'active' | 'suspended'>,
  mfa_enabled: flag,
  mfa_enabled_at: nullable(timestamp),
  backup_codes_remaining: integer,
  must_change_password: flag,
  /** As decisions see it: sessions of an older epoch are revoked. */
  session_epoch: integer,
  kept_session_id: nullable(id),
  last_login_at: nullable(timestamp),
  created_at: timestamp,
  updated_at: timestamp,
};
export type OrgAdminRow = Row<{ columns: typeof columns }>;

const change = (adminId: string, fold: (row: OrgAdminRow) => OrgAdminRow) => ({
  key: { admin_id: adminId },
  fold: (row: OrgAdminRow | undefined) => row && fold(row),
});

const withoutSessions = (row: OrgAdminRow, kept: string | null = null): OrgAdminRow => ({
  ...row,
  session_epoch: row.session_epoch + 1,
  kept_session_id: kept,
});

/** The admins of an organization: names (which tokens do not contain), second factor, and which sessions are valid. */
export const orgAdmins = defineReadModel({
  name: 'org_admins',
  version: 4,
  lane: 'main',
  columns,
  key: ['admin_id'],
  families: [organizationEvents, loginEvents],
  on: {
    OrgAdminCreated: (event) => ({
      key: { admin_id: event.data.adminId },
      fold: () => ({
        admin_id: event.data.adminId,
        email: event.data.email,
        display_name: event.data.displayName,
        role: event.data.role,
        status: 'active',
        mfa_enabled: false,
        mfa_enabled_at: null,
        backup_codes_remaining: 0,
        must_change_password: event.data.mustChangePassword,
        session_epoch: 0,
        kept_session_id: null,
        last_login_at: null,
        created_at: at(event),
        updated_at: at(event),
      }),
    }),
    OrgAdminUpdated: (event) =>
      change(event.data.adminId, (row) => ({
        ...row,
        email: event.data.email ?? row.email,
        display_name: event.data.displayName ?? row.display_name,
        updated_at: at(event),
      })),
    OrgAdminRoleChanged: (event) =>
      change(event.data.adminId, (row) => ({ ...row, role: event.data.role, updated_at: at(event) })),
    OrgAdminPasswordChanged: (event) =>
      change(event.data.adminId, (row) => ({
        ...row,
        must_change_password: event.data.mustChangePassword,
        updated_at: at(event),
      })),
    OrgAdminDeleted: (event) => ({ key: { admin_id: event.data.adminId }, fold: () => undefined }),
    LoginSucceeded: (event) => change(event.data.subjectId, (row) => ({ ...row, last_login_at: at(event) })),
    OrgAdminSuspended: (event) =>
      change(event.data.adminId, (row) => ({ ...withoutSessions(row), status: 'suspended', updated_at: at(event) })),
    OrgAdminReinstated: (event) =>
      change(event.data.adminId, (row) => ({ ...row, status: 'active', updated_at: at(event) })),
    OrgAdminSessionsRevoked: (event) => change(event.data.adminId, (row) => withoutSessions(row)),
    OrgAdminOtherSessionsRevoked: (event) =>
      change(event.data.adminId, (row) => withoutSessions(row, event.data.keptSessionId)),
    OrgAdminMfaEnabled: (event) =>
      change(event.data.adminId, (row) => ({
        ...row,
        mfa_enabled: true,
        mfa_enabled_at: at(event),
        backup_codes_remaining: event.data.backupCodes,
      })),
    OrgAdminBackupCodeUsed: (event) =>
      change(event.data.adminId, (row) => ({ ...row, backup_codes_remaining: row.backup_codes_remaining - 1 })),
    OrgAdminMfaDisabled: (event) =>
      change(event.data.adminId, (row) => ({
        ...row,
        mfa_enabled: false,
        mfa_enabled_at: null,
        backup_codes_remaining: 0,
      })),
  },
});
