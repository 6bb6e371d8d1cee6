import { refuseGuessable } from '../../src/contexts/identity/domain/password-rule.ts';
import type { OrganizationEvent } from '../../src/contexts/organizations/domain/events.ts';
import {
  organization,
  organizationStream,
  orgPasswordLocation,
} from '../../src/contexts/organizations/domain/organization.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { invalid, unauthenticated } from '../../src/platform/kernel/failure.ts';
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
    const place = orgPasswordLocation(adminId);
    const { admins, name } = await ports.aggregates.load(organization, organizationStream(tenantId));
    const guessable = refuseGuessable('newPassword', newPassword, [...known, name]);
    if (guessable) return guessable;
    // Checked again in `decide`; here it avoids the slow hash and a secret that nothing would refer to.
    if (admins.get(adminId)?.passwordRef !== provedRef) return changedMeanwhile();
    const old = await ports.vault.get(tenantId, place, provedRef);
    if (old && (await ports.passwords.verify(old.toString(), newPassword)))
      return invalid('newPassword', 'must differ from the old password');
    return { passwordRef: await ports.vault.put(tenantId, place, await ports.passwords.hash(newPassword)) };
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
