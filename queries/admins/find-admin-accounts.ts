import type { AdminAccountRow } from '../../projections/admins/admin-accounts.ts';
import type { Query } from '../../src/platform/kernel/query.ts';

export interface AdminAccount {
  readonly adminId: string;
  readonly homeTenantId: string;
}

const SQL = 'select admin_id, home_tenant_id from admin_accounts where tenant_id = $1 and account_digest = $2 limit $3';

/** Runs in the installation's scope: the accounts with an e-mail digest in all tenants, at most `most`. */
export const findAdminAccounts: Query<{ accountDigest: string; most: number }, AdminAccount[]> = async (
  reads,
  { accountDigest, most },
) => {
  const rows = await reads.rows<AdminAccountRow>(SQL, [accountDigest, most]);
  return rows.map(({ admin_id: adminId, home_tenant_id: homeTenantId }) => ({ adminId, homeTenantId }));
};
