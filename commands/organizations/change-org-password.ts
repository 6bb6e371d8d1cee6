import { storeChosenPassword } from '../identity/chosen-password.ts';
import type { OrganizationEvent } from '../../src/contexts/organizations/domain/events.ts';
import {
  organization,
  organizationStream,
  orgPasswordLocation,
} from '../../src/contexts/organizations/domain/organization.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { unauthenticated } from '../../src/platform/kernel/failure.ts';
import type { WithAggregates, WithPasswords, WithVault } from '../ports.ts';

interface ChangeOrgPassword {
  readonly adminId: string;
  readonly newPassword: string;
  /**
   * The reference of the password that was proved: after another change, a reset or a recovery since then the command
   * is refused.
   */
  readonly provedRef: string;
  /** The session that made the request; null for a forced change, which has no session. */
  readonly keptSessionId: string | null;
  /** The admin's e-mail and name, which streams hold sealed. */
  readonly known: readonly string[];
}

const changedMeanwhile = () => unauthenticated('password_changed_meanwhile');

/** The admin's own choice. It must differ from the previous password (OP-037). Other sessions end. */
export const changeOrgPassword = defineCommand({
  name: 'ChangeOrgPassword',
  aggregate: organization,
  stream: (_input: ChangeOrgPassword, { tenantId }) => organizationStream(tenantId),
  async prepare(
    { adminId, newPassword, provedRef, known }: ChangeOrgPassword,
    ports: WithAggregates & WithVault & WithPasswords,
    { tenantId },
  ) {
    const { admins, name } = await ports.aggregates.load(organization, organizationStream(tenantId));
    // Checked again in `decide`; here it avoids the slow hash and a secret that nothing would refer to.
    if (admins.get(adminId)?.passwordRef !== provedRef) return changedMeanwhile();
    return storeChosenPassword(ports, {
      tenantId,
      place: orgPasswordLocation(adminId),
      password: newPassword,
      known: [...known, name],
      replaces: provedRef,
    });
  },
  decide({ admins }, { adminId, provedRef, keptSessionId }, _context, { passwordRef }: { passwordRef: string }) {
    const admin = admins.get(adminId);
    if (admin?.passwordRef !== provedRef || admin.status !== 'active') return changedMeanwhile();
    const revoked: OrganizationEvent =
      keptSessionId === null
        ? { type: 'OrgAdminSessionsRevoked', data: { adminId, reason: 'password changed' } }
        : { type: 'OrgAdminOtherSessionsRevoked', data: { adminId, keptSessionId } };
    return accept(
      [
        {
          type: 'OrgAdminPasswordChanged',
          data: { adminId, passwordRef, mustChangePassword: false, reason: 'changed', passwordExpiresAt: null },
        },
        revoked,
      ],
      { forget: [admin.passwordRef] },
    );
  },
  freshens: ['org_admins', 'live-state'],
});
