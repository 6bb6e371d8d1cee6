import type { Command } from 'commander';
import { listAdminUsers } from '../../../queries/admins/list-admin-users.ts';
import { listOrgAdmins } from '../../../queries/organizations/list-org-admins.ts';
import { findOrganization } from '../../contexts/organizations/find-organization.ts';
import { findTenant } from '../../contexts/tenants/find-tenant.ts';
import { orThrow } from '../../platform/kernel/failure.ts';
import { performs, type CommandLine } from './operator-command.ts';
import { UsageError, type Report } from './outcome.ts';
import { alignedRows } from './wrapped-text.ts';
import type { Output } from './output.ts';
import type { OrganizationTenantsDependencies } from './organizations-of-tenants.ts';

interface Named {
  readonly tenant?: string;
  readonly organization?: string;
}

interface ListedAdmin {
  readonly id: string;
  readonly email: string;
  readonly displayName: string;
  readonly role: string;
  readonly status: string;
  readonly mfaEnabled: boolean;
}

/** The administrators of a tenant or of an organization. */
async function adminsOf(
  services: OrganizationTenantsDependencies,
  { tenant, organization }: Named,
): Promise<ListedAdmin[]> {
  if (organization !== undefined)
    return orThrow(await listOrgAdmins(services.reads(await findOrganization(services, organization))));
  const { adminUsers } = orThrow(await listAdminUsers(services.reads(await findTenant(services, tenant!)), undefined));
  return adminUsers.map(({ id, email, displayName, roleType, status, mfaEnabled }) => ({
    id,
    email,
    displayName,
    role: roleType,
    status,
    mfaEnabled,
  }));
}

async function listAdmins(services: OrganizationTenantsDependencies, output: Output, named: Named): Promise<Report> {
  const admins = await adminsOf(services, named);
  const rows = admins.map(({ id, email, role, status, mfaEnabled }) => [
    id,
    role,
    status,
    mfaEnabled ? 'yes' : 'no',
    email,
  ]);
  for (const line of alignedRows([['ID', 'ROLE', 'STATUS', 'SECOND FACTOR', 'EMAIL'], ...rows])) output.say(line);
  return { result: { admins } };
}

export function addAdminCommands(program: Command, cli: CommandLine): void {
  performs(
    cli,
    program
      .command('admin')
      .description('List administrator accounts')
      .command('list')
      .description('List the administrators of a tenant or of an organization')
      .option('--tenant <id|slug>', 'the administrators of this tenant')
      .option('--organization <id|slug>', 'the administrators of this organization'),
    'looks',
    (output, named: Named) => {
      if ((named.tenant === undefined) === (named.organization === undefined))
        throw new UsageError('name either a tenant (--tenant) or an organization (--organization)');
      return cli.withApplication(({ services }) => listAdmins(services, output, named));
    },
  );
}
