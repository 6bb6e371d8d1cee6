import { secretsOfMfa } from '../../src/contexts/identity/domain/account.ts';
import { temporaryPasswordExpiry } from '../../src/contexts/identity/domain/temporary-password.ts';
import type { OrganizationEvent } from '../../src/contexts/organizations/domain/events.ts';
import {
  organization,
  organizationStream,
  orgPasswordLocation,
} from '../../src/contexts/organizations/domain/organization.ts';
import { acceptWith, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';
import type { WithPasswords, WithVault } from '../ports.ts';

interface RecoverOrgAdmin {
  readonly adminId: string;
  readonly tempPassword: string;
}

/**
 * Break-glass recovery in any state of account and organization: active again, without second factor and sessions, with
 * a password that has to be changed.
 *
 * It also lifts a single sign-on requirement, because a failing provider locks everyone out (F111). A lock belongs to
 * the login's stream and is ended separately.
 */
export const recoverOrgAdmin = defineCommand({
  name: 'RecoverOrgAdmin',
  aggregate: organization,
  stream: (_input: RecoverOrgAdmin, { tenantId }) => organizationStream(tenantId),
  async prepare(
    { adminId, tempPassword }: RecoverOrgAdmin,
    { vault, passwords }: WithVault & WithPasswords,
    { tenantId },
  ) {
    return { passwordRef: await vault.put(tenantId, orgPasswordLocation(adminId), await passwords.hash(tempPassword)) };
  },
  decide({ admins, requireSso }, { adminId }, { now }, { passwordRef }: { passwordRef: string }) {
    const admin = admins.get(adminId);
    if (!admin) return notFound();
    const events: OrganizationEvent[] = [
      {
        type: 'OrgAdminPasswordChanged',
        data: {
          adminId,
          passwordRef,
          mustChangePassword: true,
          reason: 'recovered',
          passwordExpiresAt: temporaryPasswordExpiry(now),
        },
      },
      { type: 'OrgAdminSessionsRevoked', data: { adminId, reason: 'recovered' } },
    ];
    const mfaSecrets = secretsOfMfa(admin);
    if (mfaSecrets.length > 0) events.push({ type: 'OrgAdminMfaDisabled', data: { adminId, reason: 'recovered' } });
    if (admin.status === 'suspended') events.push({ type: 'OrgAdminReinstated', data: { adminId } });
    if (requireSso) events.push({ type: 'OrgSsoRequirementSet', data: { requireSso: false } });
    return acceptWith({ liftedSso: requireSso }, events, { forget: [admin.passwordRef, ...mfaSecrets] });
  },
  freshens: ['org_admins', 'organizations', 'live-state'],
});
