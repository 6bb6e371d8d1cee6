import { refuseEnabling } from '../../src/contexts/identity/domain/mfa-decisions.ts';
import { organization, organizationStream } from '../../src/contexts/organizations/domain/organization.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

interface EnableOrgMfa {
  readonly adminId: string;
  /** The secret that the right code belongs to. */
  readonly totpSecretRef: string;
  readonly step: number;
  readonly backupCodesRef: string;
  /** The number of backup codes. */
  readonly backupCodes: number;
}

/** Like `enableMfa`, for an organization's admin: the next sign-in with a password requires the second factor. */
export const enableOrgMfa = defineCommand({
  name: 'EnableOrgMfa',
  aggregate: organization,
  stream: (_input: EnableOrgMfa, { tenantId }) => organizationStream(tenantId),
  decide: ({ admins }, input) =>
    refuseEnabling(admins.get(input.adminId), input) ?? accept([{ type: 'OrgAdminMfaEnabled', data: input }]),
  recall: () => undefined,
  freshens: ['org_admins'],
});
