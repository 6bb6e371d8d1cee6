import { storeFirstPassword } from '../identity/chosen-password.ts';
import { temporaryPasswordExpiry } from '../../src/contexts/identity/domain/temporary-password.ts';
import type { AdminRole } from '../../src/contexts/identity/domain/roles.ts';
import { adminPasswordLocation } from '../../src/contexts/tenants/domain/admin.ts';
import {
  refuseUnlessAdministers,
  refuseUnlessReauthenticated,
} from '../../src/contexts/admins/domain/administration.ts';
import { adminEmailClaim, tenant, tenantStream } from '../../src/contexts/tenants/domain/tenant.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict, isFailure, notFound, type Failure } from '../../src/platform/kernel/failure.ts';
import type { WithAccountDigest, WithAggregates, WithPasswords, WithVault } from '../ports.ts';

interface CreateAdminUser {
  readonly adminId: string;
  readonly email: string;
  readonly displayName: string;
  readonly roleType: AdminRole;
  readonly password: string;
  /** True for a password that someone other than its owner has seen. */
  readonly mustChangePassword: boolean;
  /** Every account is a lasting way in, also one that administers nobody. */
  readonly reauthenticated?: boolean;
}

interface Facts {
  readonly passwordRef: string;
  readonly accountDigest: string;
}

type Ports = WithAggregates & WithVault & WithPasswords & WithAccountDigest;

export const createAdminUser = defineCommand({
  name: 'CreateAdminUser',
  aggregate: tenant,
  stream: (_input: CreateAdminUser, { tenantId }) => tenantStream(tenantId),
  async prepare(
    { adminId, email, displayName, password, mustChangePassword }: CreateAdminUser,
    ports: Ports,
    { tenantId },
  ): Promise<Facts | Failure> {
    const { name } = await ports.aggregates.load(tenant, tenantStream(tenantId));
    const stored = await storeFirstPassword(ports, {
      tenantId,
      place: adminPasswordLocation(adminId),
      password,
      known: [email, displayName, name],
      isTemporary: mustChangePassword,
    });
    return isFailure(stored) ? stored : { ...stored, accountDigest: ports.accountDigest(email) };
  },
  decide(
    state,
    { adminId, email, displayName, roleType, mustChangePassword, reauthenticated },
    { actor, now },
    { passwordRef, accountDigest }: Facts,
  ) {
    if (!state.exists) return notFound();
    if (state.admins.has(adminId)) return conflict();
    const refused = refuseUnlessAdministers(state, actor, [roleType]);
    if (refused) return refused;
    const unproved = refuseUnlessReauthenticated(actor, reauthenticated);
    if (unproved) return unproved;
    const passwordExpiresAt = mustChangePassword ? temporaryPasswordExpiry(now) : null;
    const data = {
      adminId,
      email,
      accountDigest,
      displayName,
      roleType,
      passwordRef,
      mustChangePassword,
      passwordExpiresAt,
    };
    return acceptWith({ passwordExpiresAt }, [{ type: 'AdminUserCreated', data }], {
      claim: [adminEmailClaim(accountDigest)],
    });
  },
  recall: (_before, [created]) => ({
    passwordExpiresAt: (created as Extract<typeof created, { type: 'AdminUserCreated' }>).data.passwordExpiresAt,
  }),
  freshens: ['admin_users', 'admin_accounts'],
});
