import { organization, organizationStream } from '../../src/contexts/organizations/domain/organization.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { unauthenticated } from '../../src/platform/kernel/failure.ts';

interface ChangeOwnOrgName {
  readonly adminId: string;
  readonly displayName: string;
}

/** For every role: a name gives no rights (OP-341). */
export const changeOwnOrgName = defineCommand({
  name: 'ChangeOwnOrgName',
  aggregate: organization,
  stream: (_input: ChangeOwnOrgName, { tenantId }) => organizationStream(tenantId),
  decide: ({ admins }, { adminId, displayName }) =>
    admins.get(adminId)?.status === 'active'
      ? accept([{ type: 'OrgAdminUpdated', data: { adminId, displayName } }])
      : unauthenticated(),
  freshens: ['org_admins'],
});
