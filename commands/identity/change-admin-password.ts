import { refuseGuessable } from '../../src/contexts/identity/domain/password-rule.ts';
import { adminPasswordLocation } from '../../src/contexts/tenants/domain/admin.ts';
import { tenant, tenantStream } from '../../src/contexts/tenants/domain/tenant.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { invalid, unauthenticated } from '../../src/platform/kernel/failure.ts';
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
    const place = adminPasswordLocation(adminId);
    const { admins, name } = await ports.aggregates.load(tenant, tenantStream(tenantId));
    const guessable = refuseGuessable('newPassword', newPassword, [...known, name]);
    if (guessable) return guessable;
    const admin = admins.get(adminId);
    const old = admin && (await ports.vault.get(tenantId, place, admin.passwordRef));
    if (old && (await ports.passwords.verify(old.toString(), newPassword)))
      return invalid('newPassword', 'must differ from the old password');
    return { passwordRef: await ports.vault.put(tenantId, place, await ports.passwords.hash(newPassword)) };
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
