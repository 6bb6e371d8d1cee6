import { secretsOfMfa } from '../../src/contexts/identity/domain/account.ts';
import { organization, organizationStream } from '../../src/contexts/organizations/domain/organization.ts';
import { accept, defineCommand } from '../../src/platform/kernel/command.ts';
import { notFound } from '../../src/platform/kernel/failure.ts';

interface DisableOrgMfa {
  readonly adminId: string;
}

/** Off, also where it was off, as for admins of tenants (choice OP-040); a set-up under way is given up too. */
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
