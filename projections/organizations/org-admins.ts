import {
  accountColumns,
  accountFolds,
  changeOf,
  newAccountRow,
} from '../../src/contexts/identity/domain/account-rows.ts';
import type { OrgRole } from '../../src/contexts/identity/domain/roles.ts';
import { loginEvents } from '../../src/contexts/identity/domain/login-events.ts';
import { organizationEvents } from '../../src/contexts/organizations/domain/events.ts';
import { defineReadModel, text, type Column, type Row } from '../../src/platform/kernel/read-model.ts';

const { admin_id, email, display_name, ...state } = accountColumns;
/** In the order of the table's columns. */
const columns = { admin_id, email, display_name, role: text as Column<OrgRole>, ...state };
export type OrgAdminRow = Row<{ columns: typeof columns }>;

const change = changeOf<OrgAdminRow>();
const { touched, ...folds } = accountFolds;

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
      fold: () => ({ ...newAccountRow(event), role: event.data.role }),
    }),
    OrgAdminUpdated: change(folds.renamed),
    OrgAdminRoleChanged: change((row, event) => ({ ...touched(row, event), role: event.data.role })),
    OrgAdminSuspended: change(folds.suspended),
    OrgAdminReinstated: change(folds.reinstated),
    OrgAdminPasswordChanged: change(folds.passwordChanged),
    OrgAdminSessionsRevoked: change(folds.sessionsRevoked),
    OrgAdminOtherSessionsRevoked: change(folds.otherSessionsRevoked),
    OrgAdminMfaEnabled: change(folds.mfaEnabled),
    OrgAdminBackupCodeUsed: change(folds.backupCodeUsed),
    OrgAdminMfaDisabled: change(folds.mfaDisabled),
    OrgAdminDeleted: change(() => undefined),
    LoginSucceeded: (event) => ({
      key: { admin_id: event.data.subjectId },
      fold: (row: OrgAdminRow | undefined) => row && folds.signedIn(row, event),
    }),
  },
});
