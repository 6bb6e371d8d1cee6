import { refuseBackupCode } from '../../src/contexts/identity/domain/mfa-decisions.ts';
import { organization, organizationStream } from '../../src/contexts/organizations/domain/organization.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

interface UseOrgBackupCode {
  readonly adminId: string;
  readonly backupCodesRef: string;
  /** The index of the code. */
  readonly place: number;
}

/** Like `useBackupCode`, for an organization's admin. */
export const useOrgBackupCode = defineCommand({
  name: 'UseOrgBackupCode',
  aggregate: organization,
  stream: (_input: UseOrgBackupCode, { tenantId }) => organizationStream(tenantId),
  decide: ({ admins }, input) =>
    refuseBackupCode(admins.get(input.adminId)?.mfa, input) ??
    accept([{ type: 'OrgAdminBackupCodeUsed', data: input }]),
  freshens: ['org_admins'],
});
