import type { AdminRole } from '../../src/contexts/identity/domain/roles.ts';
import { adminPasswordLocation } from '../../src/contexts/tenants/domain/admin.ts';
import { refuseUnlessAdministers } from '../../src/contexts/admins/domain/administration.ts';
import { refuseUnlessReauthenticated } from '../../src/platform/kernel/fresh-proof.ts';
import { adminEmailClaim, tenant, tenantStream } from '../../src/contexts/tenants/domain/tenant.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict, notFound } from '../../src/platform/kernel/failure.ts';
import {
  createdAccount,
  prepareAdminAccount,
  type NewAdminAccount,
  type NewAdminFacts,
} from '../identity/new-admin-account.ts';
import type { WithAccountDigest, WithAggregates, WithPasswords, WithVault } from '../ports.ts';

interface CreateAdminUser extends NewAdminAccount {
  readonly roleType: AdminRole;
  /** Every account is a lasting way in, also one that administers nobody. */
  readonly reauthenticated?: boolean;
}

type Ports = WithAggregates & WithVault & WithPasswords & WithAccountDigest;

export const createAdminUser = defineCommand({
  name: 'CreateAdminUser',
  aggregate: tenant,
  stream: (_input: CreateAdminUser, { tenantId }) => tenantStream(tenantId),
  async prepare(input: CreateAdminUser, ports: Ports, { tenantId }) {
    const { name: ownerName } = await ports.aggregates.load(tenant, tenantStream(tenantId));
    return prepareAdminAccount(ports, input, { tenantId, place: adminPasswordLocation(input.adminId), ownerName });
  },
  decide(state, input, { actor, now }, facts: NewAdminFacts) {
    const { adminId, roleType, reauthenticated } = input;
    if (!state.exists) return notFound();
    if (state.admins.has(adminId)) return conflict();
    const refused = refuseUnlessAdministers(state, actor, [roleType]);
    if (refused) return refused;
    const unproved = refuseUnlessReauthenticated(actor, reauthenticated);
    if (unproved) return unproved;
    const data = { ...createdAccount(input, facts, now), roleType };
    return acceptWith({ passwordExpiresAt: data.passwordExpiresAt }, [{ type: 'AdminUserCreated', data }], {
      claim: [adminEmailClaim(data.accountDigest)],
    });
  },
  recall: (_before, [created]) => ({
    passwordExpiresAt: (created as Extract<typeof created, { type: 'AdminUserCreated' }>).data.passwordExpiresAt,
  }),
  freshens: ['admin_users', 'admin_accounts'],
});
