import { z } from 'zod';
import type { AdminUserRow } from '../../projections/admins/admin-users.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

/** OP-039. */
export const mfaStatusView = z
  .object({ enabled: z.boolean(), backupCodesRemaining: z.int(), enabledAt: z.iso.datetime().nullable() })
  .meta({ title: 'MfaStatus' });

const SQL =
  'select mfa_enabled, backup_codes_remaining, mfa_enabled_at from admin_users where tenant_id = $1 and admin_id = $2';

export const mfaStatus: Query<{ adminId: string }, z.output<typeof mfaStatusView>> = async (reads, { adminId }) => {
  const row = await reads.one<Pick<AdminUserRow, 'mfa_enabled' | 'backup_codes_remaining' | 'mfa_enabled_at'>>(SQL, [
    adminId,
  ]);
  return row
    ? { enabled: row.mfa_enabled, backupCodesRemaining: row.backup_codes_remaining, enabledAt: row.mfa_enabled_at }
    : notFound();
};
