import { useOfBackupCode, type PresentedPlace } from '../../src/contexts/identity/domain/mfa-decisions.ts';
import { organization, organizationStream } from '../../src/contexts/organizations/domain/organization.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { isFailure } from '../../src/platform/kernel/failure.ts';

interface UseOrgBackupCode extends PresentedPlace {
  readonly adminId: string;
}

/** Like `useBackupCode`, for an organization's admin. */
export const useOrgBackupCode = defineCommand({
  name: 'UseOrgBackupCode',
  aggregate: organization,
  stream: (_input: UseOrgBackupCode, { tenantId }) => organizationStream(tenantId),
  decide({ admins }, input) {
    const use = useOfBackupCode(admins.get(input.adminId)?.mfa, input);
    if (isFailure(use)) return use;
    return accept(use === 'first' ? [{ type: 'OrgAdminBackupCodeUsed', data: input }] : []);
  },
  freshens: ['org_admins'],
});
