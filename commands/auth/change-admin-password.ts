import { tenant, tenantStream } from '../../src/domain/tenants/tenant.ts';
import { accept, defineCommand } from '../../src/kernel/command.ts';
import { invalid, notFound } from '../../src/kernel/failure.ts';
import type { CommandPorts } from '../../src/services.ts';

interface ChangeAdminPassword {
  readonly adminId: string;
  readonly newPassword: string;
}

/** The admin's own choice after a forced change: another password than before (choice OP-037). Other sessions end with the old one. */
export const changeAdminPassword = defineCommand({
  name: 'ChangeAdminPassword',
  aggregate: tenant,
  stream: (_input: ChangeAdminPassword, { tenantId }) => tenantStream(tenantId),
  async prepare({ adminId, newPassword }: ChangeAdminPassword, ports: Pick<CommandPorts, 'aggregates' | 'vault' | 'passwords'>, { tenantId }) {
    const place = { owner: `admin/${adminId}`, field: 'passwordHash' };
    const admin = (await ports.aggregates.load(tenant, tenantStream(tenantId))).admins.get(adminId);
    const old = admin && (await ports.vault.get(tenantId, place, admin.passwordRef));
    if (old && (await ports.passwords.verify(old.toString(), newPassword))) return invalid('newPassword', 'must differ from the old password');
    return { passwordRef: await ports.vault.put(tenantId, place, await ports.passwords.hash(newPassword)) };
  },
  decide(state, { adminId }, _context, { passwordRef }: { passwordRef: string }) {
    if (!state.admins.has(adminId)) return notFound();
    return accept([
      { type: 'AdminPasswordChanged', data: { adminId, passwordRef, mustChangePassword: false, reason: 'changed' } },
      { type: 'AdminSessionsRevoked', data: { adminId, reason: 'password changed' } },
    ]);
  },
  freshens: ['admin_users', 'live-state'],
});
