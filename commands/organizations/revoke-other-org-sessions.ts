import { organization, organizationStream } from '../../src/contexts/organizations/domain/organization.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

interface RevokeOtherOrgSessions {
  readonly adminId: string;
  readonly keptSessionId: string;
}

/**
 * Like `revokeOtherSessions`, for an organization's admin: one event ends all sessions but this one, including a
 * session that begins concurrently.
 */
export const revokeOtherOrgSessions = defineCommand({
  name: 'RevokeOtherOrgSessions',
  aggregate: organization,
  stream: (_input: RevokeOtherOrgSessions, { tenantId }) => organizationStream(tenantId),
  decide: ({ admins }, input) =>
    admins.has(input.adminId) ? accept([{ type: 'OrgAdminOtherSessionsRevoked', data: input }]) : notFound(),
  freshens: ['org_admins', 'live-state'],
});
