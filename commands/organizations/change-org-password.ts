import type { OrganizationEvent } from '../../src/contexts/organizations/domain/events.ts';
import {
  organization,
  organizationStream,
  orgPasswordLocation,
} from '../../src/contexts/organizations/domain/organization.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import {
  ownPasswordChanged,
  refuseUnlessProved,
  storeOwnPassword,
  type OwnPasswordChange,
} from '../identity/own-password.ts';
import type { WithAggregates, WithPasswords, WithVault } from '../ports.ts';

interface ChangeOrgPassword extends OwnPasswordChange {
  /** The session that made the request; null for a forced change, which has no session. */
  readonly keptSessionId: string | null;
}

/** The admin's own choice. It must differ from the previous password (OP-037). Other sessions end. */
export const changeOrgPassword = defineCommand({
  name: 'ChangeOrgPassword',
  aggregate: organization,
  stream: (_input: ChangeOrgPassword, { tenantId }) => organizationStream(tenantId),
  async prepare(input: ChangeOrgPassword, ports: WithAggregates & WithVault & WithPasswords, { tenantId }) {
    const state = await ports.aggregates.load(organization, organizationStream(tenantId));
    return storeOwnPassword(ports, state, input, { tenantId, place: orgPasswordLocation(input.adminId) });
  },
  decide({ admins }, input, _context, { passwordRef }: { passwordRef: string }) {
    const { adminId, provedRef, keptSessionId } = input;
    const revoked: OrganizationEvent =
      keptSessionId === null
        ? { type: 'OrgAdminSessionsRevoked', data: { adminId, reason: 'password changed' } }
        : { type: 'OrgAdminOtherSessionsRevoked', data: { adminId, keptSessionId } };
    return (
      refuseUnlessProved(admins, input) ??
      accept([{ type: 'OrgAdminPasswordChanged', data: ownPasswordChanged(adminId, passwordRef) }, revoked], {
        forget: [provedRef],
      })
    );
  },
  freshens: ['org_admins', 'live-state'],
});
