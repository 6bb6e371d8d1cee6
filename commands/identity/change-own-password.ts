import { storeChosenPassword } from './chosen-password.ts';
import { adminPasswordLocation } from '../../src/contexts/tenants/domain/admin.ts';
import { tenant, tenantStream } from '../../src/contexts/tenants/domain/tenant.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { unauthenticated } from '../../src/platform/kernel/failure.ts';
import type { WithAggregates, WithPasswords, WithVault } from '../ports.ts';

interface ChangeOwnPassword {
  readonly adminId: string;
  readonly newPassword: string;
  /** The reference of the password that was proved: after another change, a reset or a recovery the command is refused. */
  readonly provedRef: string;
  /** The session that made the request. */
  readonly keptSessionId: string;
  /** The admin's e-mail and name, which streams hold sealed. */
  readonly known: readonly string[];
}

const changedMeanwhile = () => unauthenticated('password_changed_meanwhile');

/** A change in a session, which proved the current password (OP-341). Every other session ends. */
export const changeOwnPassword = defineCommand({
  name: 'ChangeOwnPassword',
  aggregate: tenant,
  stream: (_input: ChangeOwnPassword, { tenantId }) => tenantStream(tenantId),
  async prepare(
    { adminId, newPassword, provedRef, known }: ChangeOwnPassword,
    ports: WithAggregates & WithVault & WithPasswords,
    { tenantId },
  ) {
    const { admins, name } = await ports.aggregates.load(tenant, tenantStream(tenantId));
    // Checked again in `decide`; here it avoids the slow hash and a secret that nothing would refer to.
    if (admins.get(adminId)?.passwordRef !== provedRef) return changedMeanwhile();
    return storeChosenPassword(ports, {
      tenantId,
      place: adminPasswordLocation(adminId),
      password: newPassword,
      known: [...known, name],
      replaces: provedRef,
    });
  },
  decide({ admins }, { adminId, provedRef, keptSessionId }, _context, { passwordRef }: { passwordRef: string }) {
    const admin = admins.get(adminId);
    if (admin?.passwordRef !== provedRef || admin.status !== 'active') return changedMeanwhile();
    return accept(
      [
        {
          type: 'AdminPasswordChanged',
          data: { adminId, passwordRef, mustChangePassword: false, reason: 'changed', passwordExpiresAt: null },
        },
        { type: 'AdminOtherSessionsRevoked', data: { adminId, keptSessionId } },
      ],
      { forget: [admin.passwordRef] },
    );
  },
  freshens: ['admin_users', 'live-state'],
});
