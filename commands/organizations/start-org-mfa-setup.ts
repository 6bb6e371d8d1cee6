import { refuseSetup } from '../../src/contexts/identity/domain/mfa-decisions.ts';
import { organization, organizationStream } from '../../src/contexts/organizations/domain/organization.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';

interface StartOrgMfaSetup {
  readonly adminId: string;
  readonly totpSecretRef: string;
}

/** Like `startMfaSetup`, for an organization's admin. */
export const startOrgMfaSetup = defineCommand({
  name: 'StartOrgMfaSetup',
  aggregate: organization,
  stream: (_input: StartOrgMfaSetup, { tenantId }) => organizationStream(tenantId),
  decide({ admins }, input) {
    const admin = admins.get(input.adminId);
    const refused = refuseSetup(admin);
    if (refused) return refused;
    return accept([{ type: 'OrgAdminMfaSetupStarted', data: input }], { forget: [admin!.pendingTotpSecretRef] });
  },
});
