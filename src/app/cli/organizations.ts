import type { Command } from 'commander';
import { addOrganizationAdminCommands } from './organization-admins.ts';
import {
  attachTenantAsOperator,
  createOrganizationAsOperator,
  detachTenantAsOperator,
} from './organization-commands.ts';
import { addOrganizationDomainCommands } from './organization-domains.ts';
import { allOrganizations, type OrganizationTenantsDependencies } from './organizations-of-tenants.ts';
import { performs, type CommandLine } from './operator-command.ts';
import { email, textUpTo, webAddress } from './option-values.ts';
import { alignedRows } from './wrapped-text.ts';
import type { Report } from './outcome.ts';
import type { Output } from './output.ts';

interface NewOrganizationOptions {
  readonly name: string;
  readonly slug?: string;
  readonly ownerEmail: string;
  readonly baseUrl?: string;
}

interface NamedTenantOf {
  readonly slug: string;
  readonly tenant: string;
}

async function listOrganizationsOf(services: OrganizationTenantsDependencies, output: Output): Promise<Report> {
  const organizations = await allOrganizations(services);
  const rows = organizations.map(({ id, slug, tenants, admins, name }) => [
    id,
    slug,
    String(tenants.length),
    String(admins),
    name,
  ]);
  for (const line of alignedRows([['ID', 'SLUG', 'TENANTS', 'ADMINS', 'NAME'], ...rows])) output.say(line);
  return { result: { organizations } };
}

export function addOrganizationCommands(program: Command, cli: CommandLine): void {
  const org = program.command('org').description('Manage organizations, which administer tenants');
  performs(
    cli,
    org
      .command('create')
      .description("Create an organization; its owner's temporary password is printed on the last line")
      .requiredOption('--name <name>', 'name of the organization', textUpTo(200))
      .option('--slug <slug>', 'derived from the name if left out')
      .requiredOption('--owner-email <email>', 'e-mail of its first admin', email)
      .option('--base-url <url>', 'URL at which browsers reach this service', webAddress),
    'changes',
    async (output, { name, slug, ownerEmail, baseUrl }: NewOrganizationOptions) => {
      const made = await cli.withApplication(({ services }) =>
        createOrganizationAsOperator(services, { name, slug, ownerEmail, externalBaseUrl: baseUrl }),
      );
      output.say(`Organization ${name}: ${made.organizationId}, slug ${made.slug}, owner ${ownerEmail}`);
      output.say('The owner must sign in within seven days and choose another password. Temporary password:');
      output.say(made.password);
      const { organizationId, slug: chosen, password } = made;
      return { result: { organizationId, slug: chosen, name, ownerEmail, temporaryPassword: password } };
    },
  );
  performs(
    cli,
    org.command('list').description('List the organizations, with the number of their tenants and admins'),
    'looks',
    (output) => cli.withApplication(({ services }) => listOrganizationsOf(services, output)),
  );
  performs(
    cli,
    org
      .command('attach')
      .description('Attach a tenant to an organization')
      .requiredOption('--slug <id|slug>', 'the organization')
      .requiredOption('--tenant <id|slug>', 'the tenant'),
    'changes',
    async (output, { slug, tenant }: NamedTenantOf) => {
      await cli.withApplication(({ services }) => attachTenantAsOperator(services, { slug, tenant }));
      output.say(`Tenant ${tenant} belongs to ${slug}`);
      return { result: { organization: slug, tenant } };
    },
  );
  performs(
    cli,
    org
      .command('detach')
      .description('Detach a tenant from its organization; providers of the organization are switched off in it')
      .requiredOption('--slug <id|slug>', 'the organization')
      .requiredOption('--tenant <id|slug>', 'the tenant'),
    'changes',
    async (output, { slug, tenant }: NamedTenantOf) => {
      const { switchedOff, stillEnabled } = await cli.withApplication(({ services }) =>
        detachTenantAsOperator(services, { slug, tenant }),
      );
      output.say(`Tenant ${tenant} no longer belongs to ${slug}`);
      for (const name of switchedOff)
        output.say(`The organization's provider "${name}" is switched off, and its sessions have ended`);
      for (const name of stillEnabled) output.say(`Its admins still sign in through its own provider "${name}"`);
      return { result: { organization: slug, tenant, switchedOff, stillEnabled } };
    },
    {
      question: ({ slug, tenant }) =>
        `This takes tenant ${tenant} from ${slug}: its providers are switched off there, and their sessions end.`,
    },
  );
  addOrganizationAdminCommands(org, cli);
  addOrganizationDomainCommands(org, cli);
}
