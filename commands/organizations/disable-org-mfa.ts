import { secretsOfMfa } from '../../src/contexts/identity/domain/account.ts';
import { organization, organizationStream } from '../../src/contexts/organizations/domain/organization.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

interface DisableOrgMfa {
  readonly adminId: string;
}

/**
 * Disables the second factor, or a pending set-up. Succeeds also if it was already off, as for tenant admins (OP-040).
 */
export const disableOrgMfa = defineCommand({
  name: 'DisableOrgMfa',
  aggregate: organization,
  stream: (_input: DisableOrgMfa, { tenantId }) => organizationStream(tenantId),
  decide({ admins }, { adminId }) {
    const admin = admins.get(adminId);
    if (!admin) return notFound();
    const forget = secretsOfMfa(admin);
    return accept(forget.length > 0 ? [{ type: 'OrgAdminMfaDisabled', data: { adminId, reason: 'removed' } }] : [], {
      forget,
    });
  },
  freshens: ['org_admins'],
});
