import { temporaryPasswordExpiry } from '../../src/contexts/identity/domain/temporary-password.ts';
import { namedOrgAdmin } from '../../src/contexts/organizations/domain/administration.ts';
import type { OrganizationEvent } from '../../src/contexts/organizations/domain/events.ts';
import {
  organization,
  organizationStream,
  orgPasswordLocation,
} from '../../src/contexts/organizations/domain/organization.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';
import { conflict, isFailure } from '../../src/platform/kernel/failure.ts';
import type { WithAggregates, WithPasswords, WithVault } from '../ports.ts';

interface ResetOrgAdminPassword {
  readonly adminId: string;
  /** Shown once to the owner who resets it; its owner has to change it at the next sign-in. */
  readonly temporaryPassword: string;
}

/** Ends every session of the admin. Not for the caller's own account: `change-password` proves the current password. */
export const resetOrgAdminPassword = defineCommand({
  name: 'ResetOrgAdminPassword',
  aggregate: organization,
  stream: (_input: ResetOrgAdminPassword, { tenantId }) => organizationStream(tenantId),
  async prepare(
    { adminId, temporaryPassword }: ResetOrgAdminPassword,
    { aggregates, vault, passwords }: WithAggregates & WithVault & WithPasswords,
    { tenantId },
  ) {
    const admin = namedOrgAdmin(await aggregates.load(organization, organizationStream(tenantId)), adminId);
    if (isFailure(admin)) return admin;
    const hash = await passwords.hash(temporaryPassword);
    return { passwordRef: await vault.put(tenantId, orgPasswordLocation(adminId), hash) };
  },
  decide(state, { adminId }, { actor, now }, { passwordRef }: { passwordRef: string }) {
    const admin = namedOrgAdmin(state, adminId);
    if (isFailure(admin)) return admin;
    if (actor.id === adminId) return conflict('own_account');
    const passwordExpiresAt = temporaryPasswordExpiry(now);
    return acceptWith(
      { accountDigest: admin.accountDigest, passwordExpiresAt },
      [
        {
          type: 'OrgAdminPasswordChanged',
          data: { adminId, passwordRef, mustChangePassword: true, reason: 'reset', passwordExpiresAt },
        },
        { type: 'OrgAdminSessionsRevoked', data: { adminId, reason: 'password reset' } },
      ],
      { forget: [admin.passwordRef] },
    );
  },
  recall(before, [changed], { adminId }) {
    const { accountDigest } = before.admins.get(adminId)!;
    const { passwordExpiresAt } = (changed as Extract<OrganizationEvent, { type: 'OrgAdminPasswordChanged' }>).data;
    return { accountDigest, passwordExpiresAt: passwordExpiresAt! };
  },
  freshens: ['org_admins', 'live-state'],
});
