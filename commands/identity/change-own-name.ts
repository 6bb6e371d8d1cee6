import { tenant, tenantStream } from '../../src/contexts/tenants/domain/tenant.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { unauthenticated } from '../../src/platform/kernel/failure.ts';

interface ChangeOwnName {
  readonly adminId: string;
  readonly displayName: string;
}

/** For every role: a name gives no rights (OP-341). */
export const changeOwnName = defineCommand({
  name: 'ChangeOwnName',
  aggregate: tenant,
  stream: (_input: ChangeOwnName, { tenantId }) => tenantStream(tenantId),
  decide: ({ admins }, { adminId, displayName }) =>
    admins.get(adminId)?.status === 'active'
      ? accept([{ type: 'AdminUserUpdated', data: { adminId, displayName } }])
      : unauthenticated(),
  freshens: ['admin_users'],
});
