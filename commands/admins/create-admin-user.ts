import type { Role } from '../../src/domain/identity/roles.ts';
import { passwordPlace } from '../../src/domain/tenants/admin.ts';
import { governs, refuseUnlessAdministers, refuseUnlessReauthenticated } from '../../src/domain/tenants/administration.ts';
import { adminEmailClaim, tenant, tenantStream } from '../../src/domain/tenants/tenant.ts';
import { accept, defineCommand } from '../../src/kernel/command.ts';
import { conflict, notFound } from '../../src/kernel/failure.ts';
import type { CommandPorts } from '../../src/services.ts';

interface CreateAdminUser {
  readonly adminId: string;
  readonly email: string;
  readonly displayName: string;
  readonly roleType: Role;
  readonly password: string;
  /** For a password that somebody else has seen. */
  readonly mustChangePassword: boolean;
  /** Needed for a role that administers others. */
  readonly reauthenticated?: boolean;
}

interface Facts {
  readonly passwordRef: string;
  readonly accountDigest: string;
}

export const createAdminUser = defineCommand({
  name: 'CreateAdminUser',
  aggregate: tenant,
  stream: (_input: CreateAdminUser, { tenantId }) => tenantStream(tenantId),
  async prepare({ adminId, email, password }: CreateAdminUser, { vault, passwords, accountDigest }: Pick<CommandPorts, 'vault' | 'passwords' | 'accountDigest'>, { tenantId }): Promise<Facts> {
    const passwordRef = await vault.put(tenantId, passwordPlace(adminId), await passwords.hash(password));
    return { passwordRef, accountDigest: accountDigest(email) };
  },
  decide(state, { adminId, email, displayName, roleType, mustChangePassword, reauthenticated }, { actor }, { passwordRef, accountDigest }: Facts) {
    if (!state.exists) return notFound();
    if (state.admins.has(adminId)) return conflict();
    const refused = refuseUnlessAdministers(state, actor, [roleType]);
    if (refused) return refused;
    const unproved = governs(roleType) ? refuseUnlessReauthenticated(actor, reauthenticated) : undefined;
    if (unproved) return unproved;
    const data = { adminId, email, accountDigest, displayName, roleType, passwordRef, mustChangePassword };
    return accept([{ type: 'AdminUserCreated', data }], { take: [adminEmailClaim(accountDigest)] });
  },
  freshens: ['admin_users', 'admin_accounts'],
});
