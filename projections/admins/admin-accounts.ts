import { tenantEvents } from '../../src/contexts/tenants/domain/events.ts';
import { defineReadModel, id, text, type Row } from '../../src/platform/kernel/read-model.ts';

const columns = { admin_id: id, home_tenant_id: id, account_digest: text };
export type AdminAccountRow = Row<{ columns: typeof columns }>;

/**
 * Which tenants have an account for an e-mail, by its keyed digest. Recovery needs it, because that request names no
 * tenant.
 */
export const adminAccounts = defineReadModel({
  name: 'admin_accounts',
  version: 1,
  lane: 'main',
  scope: 'installation',
  columns,
  key: ['admin_id'],
  indexes: [['account_digest']],
  families: [tenantEvents],
  on: {
    AdminUserCreated: ({ tenantId, data: { adminId, accountDigest } }) => ({
      key: { admin_id: adminId },
      fold: () => ({ admin_id: adminId, home_tenant_id: tenantId, account_digest: accountDigest }),
    }),
    AdminUserUpdated: ({ data: { adminId, accountDigest } }) => ({
      key: { admin_id: adminId },
      fold: (row) => row && (accountDigest === undefined ? row : { ...row, account_digest: accountDigest }),
    }),
    AdminUserDeleted: ({ data }) => ({ key: { admin_id: data.adminId }, fold: () => undefined }),
  },
});
