import { temporaryPasswordExpiry } from '../../src/contexts/identity/domain/temporary-password.ts';
import { adminPasswordLocation } from '../../src/contexts/tenants/domain/admin.ts';
import { administeredAdmin } from '../../src/contexts/admins/domain/administration.ts';
import { tenant, tenantStream } from '../../src/contexts/tenants/domain/tenant.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';
import { isFailure } from '../../src/platform/kernel/failure.ts';
import type { WithAggregates, WithPasswords, WithVault } from '../ports.ts';

interface ResetAdminPassword {
  readonly adminId: string;
  /** Shown once to the admin who resets it; its owner has to change it at the next sign-in. */
  readonly temporaryPassword: string;
}

/** Ends every session of the admin (OP-044). */
export const resetAdminPassword = defineCommand({
  name: 'ResetAdminPassword',
  aggregate: tenant,
  stream: (_input: ResetAdminPassword, { tenantId }) => tenantStream(tenantId),
  async prepare(
    { adminId, temporaryPassword }: ResetAdminPassword,
    ports: WithAggregates & WithVault & WithPasswords,
    { tenantId, actor },
  ) {
    const refused = administeredAdmin(await ports.aggregates.load(tenant, tenantStream(tenantId)), actor, adminId);
    if (isFailure(refused)) return refused;
    return {
      passwordRef: await ports.vault.put(
        tenantId,
        adminPasswordLocation(adminId),
        await ports.passwords.hash(temporaryPassword),
      ),
    };
  },
  decide(state, { adminId }, { actor, now }, { passwordRef }: { passwordRef: string }) {
    const admin = administeredAdmin(state, actor, adminId);
    if (isFailure(admin)) return admin;
    const passwordExpiresAt = temporaryPasswordExpiry(now);
    return acceptWith(
      { accountDigest: admin.accountDigest, passwordExpiresAt },
      [
        {
          type: 'AdminPasswordChanged',
          data: { adminId, passwordRef, mustChangePassword: true, reason: 'reset', passwordExpiresAt },
        },
        { type: 'AdminSessionsRevoked', data: { adminId, reason: 'password reset' } },
      ],
      { forget: [admin.passwordRef] },
    );
  },
  recall(before, [changed], { adminId }) {
    const { accountDigest } = before.admins.get(adminId)!;
    const { passwordExpiresAt } = (changed as Extract<typeof changed, { type: 'AdminPasswordChanged' }>).data;
    return { accountDigest, passwordExpiresAt: passwordExpiresAt! };
  },
  freshens: ['admin_users', 'live-state'],
});
