import type { RecordedEvent } from '../../../platform/kernel/event.ts';
import {
  at,
  flag,
  id,
  integer,
  nullable,
  text,
  timestamp,
  type Column,
  type Row,
} from '../../../platform/kernel/read-model.ts';

/** The columns that administrators of a tenant and of an organization have in common. */
export const accountColumns = {
  admin_id: id,
  email: text,
  display_name: text,
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
type AccountRow = Row<{ columns: typeof accountColumns }>;

type With<Data> = RecordedEvent<{ readonly type: string; readonly data: Data }>;

export const newAccountRow = (
  event: With<{
    readonly adminId: string;
    readonly email: string;
    readonly displayName: string;
    readonly mustChangePassword: boolean;
  }>,
): AccountRow => ({
  admin_id: event.data.adminId,
  email: event.data.email,
  display_name: event.data.displayName,
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
});

type Fold<Data> = <R extends AccountRow>(row: R, event: With<Data>) => R;

const touched: Fold<unknown> = (row, event) => ({ ...row, updated_at: at(event) });

const withoutSessions = <R extends AccountRow>(row: R, kept: string | null = null): R => ({
  ...row,
  session_epoch: row.session_epoch + 1,
  kept_session_id: kept,
});

const renamed: Fold<{ readonly email?: string | undefined; readonly displayName?: string | undefined }> = (
  row,
  event,
) => ({
  ...touched(row, event),
  email: event.data.email ?? row.email,
  display_name: event.data.displayName ?? row.display_name,
});
const suspended: Fold<unknown> = (row, event) => ({ ...touched(withoutSessions(row), event), status: 'suspended' });
const reinstated: Fold<unknown> = (row, event) => ({ ...touched(row, event), status: 'active' });
const passwordChanged: Fold<{ readonly mustChangePassword: boolean }> = (row, event) => ({
  ...touched(row, event),
  must_change_password: event.data.mustChangePassword,
});
const signedIn: Fold<unknown> = (row, event) => ({ ...row, last_login_at: at(event) });
const sessionsRevoked: Fold<unknown> = (row) => withoutSessions(row);
const otherSessionsRevoked: Fold<{ readonly keptSessionId: string }> = (row, { data }) =>
  withoutSessions(row, data.keptSessionId);
const mfaEnabled: Fold<{ readonly backupCodes: number }> = (row, event) => ({
  ...row,
  mfa_enabled: true,
  mfa_enabled_at: at(event),
  backup_codes_remaining: event.data.backupCodes,
});
const backupCodeUsed: Fold<unknown> = (row) => ({ ...row, backup_codes_remaining: row.backup_codes_remaining - 1 });
const mfaDisabled: Fold<unknown> = (row) => ({
  ...row,
  mfa_enabled: false,
  mfa_enabled_at: null,
  backup_codes_remaining: 0,
});

/** What events of an account change in its row. */
export const accountFolds = {
  touched,
  renamed,
  suspended,
  reinstated,
  passwordChanged,
  signedIn,
  sessionsRevoked,
  otherSessionsRevoked,
  mfaEnabled,
  backupCodeUsed,
  mfaDisabled,
};

/** The change of the row that an event names by `adminId`, if it exists. */
export const changeOf =
  <R extends AccountRow>() =>
  <E extends With<{ readonly adminId: string }>>(fold: (row: R, event: E) => R | undefined) =>
  (event: E) => ({
    key: { admin_id: event.data.adminId },
    fold: (row: R | undefined) => row && fold(row, event),
  });
