import type { z } from 'zod';
import type { OrgAdminRow } from '../../projections/organizations/org-admins.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import type { mfaStatusView } from '../admins/mfa-status.ts';

const SQL =
  'select mfa_enabled, backup_codes_remaining, mfa_enabled_at from org_admins where tenant_id = $1 and admin_id = $2';

/** Runs in the organization's scope. */
export const orgMfaStatus: Query<{ adminId: string }, z.output<typeof mfaStatusView>> = async (reads, { adminId }) => {
  const row = await reads.one<Pick<OrgAdminRow, 'mfa_enabled' | 'backup_codes_remaining' | 'mfa_enabled_at'>>(SQL, [
    adminId,
  ]);
  return row
    ? { enabled: row.mfa_enabled, backupCodesRemaining: row.backup_codes_remaining, enabledAt: row.mfa_enabled_at }
    : notFound();
};
