import { storeChosenPassword } from './chosen-password.ts';
import { adminPasswordLocation } from '../../src/contexts/tenants/domain/admin.ts';
import { tenant, tenantStream } from '../../src/contexts/tenants/domain/tenant.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { unauthenticated } from '../../src/platform/kernel/failure.ts';
import type { WithAggregates, WithPasswords, WithVault } from '../ports.ts';

interface ChangeAdminPassword {
  readonly adminId: string;
  readonly newPassword: string;
  /** The session epoch of the request: after a reset or a recovery since then it is refused. */
  readonly epoch: number;
  /** The admin's e-mail and name, which streams hold sealed. */
  readonly known: readonly string[];
}

/**
 * The admin's own choice after a forced change. It must differ from the previous password (OP-037). Other sessions end.
 */
export const changeAdminPassword = defineCommand({
  name: 'ChangeAdminPassword',
  aggregate: tenant,
  stream: (_input: ChangeAdminPassword, { tenantId }) => tenantStream(tenantId),
  async prepare(
    { adminId, newPassword, known }: ChangeAdminPassword,
    ports: WithAggregates & WithVault & WithPasswords,
    { tenantId },
  ) {
    const { admins, name } = await ports.aggregates.load(tenant, tenantStream(tenantId));
    return storeChosenPassword(ports, {
      tenantId,
      place: adminPasswordLocation(adminId),
      password: newPassword,
      known: [...known, name],
      replaces: admins.get(adminId)?.passwordRef,
    });
  },
  decide(state, { adminId, epoch }, _context, { passwordRef }: { passwordRef: string }) {
    const admin = state.admins.get(adminId);
    if (admin?.sessionEpoch !== epoch) return unauthenticated('invalid_token');
    return accept(
      [
        {
          type: 'AdminPasswordChanged',
          data: { adminId, passwordRef, mustChangePassword: false, reason: 'changed', passwordExpiresAt: null },
        },
        { type: 'AdminSessionsRevoked', data: { adminId, reason: 'password changed' } },
      ],
      { forget: [admin.passwordRef] },
    );
  },
  freshens: ['admin_users', 'live-state'],
});
