import { refuseEnabling } from '../../src/contexts/identity/domain/mfa-decisions.ts';
import { organization, organizationStream } from '../../src/contexts/organizations/domain/organization.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

interface EnableOrgMfa {
  readonly adminId: string;
  /** The secret for which a code was right. */
  readonly totpSecretRef: string;
  readonly step: number;
  readonly backupCodesRef: string;
  /** How many there are. */
  readonly backupCodes: number;
}

/** As `enableMfa`, of an organization's admin: from the next sign-in with a password on it is asked for. */
export const enableOrgMfa = defineCommand({
  name: 'EnableOrgMfa',
  aggregate: organization,
  stream: (_input: EnableOrgMfa, { tenantId }) => organizationStream(tenantId),
  decide: ({ admins }, input) =>
    refuseEnabling(admins.get(input.adminId), input) ?? accept([{ type: 'OrgAdminMfaEnabled', data: input }]),
  recall: () => undefined,
  freshens: ['org_admins'],
});
