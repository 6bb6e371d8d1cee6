import type { Command } from 'commander';
import {
  attachTenantAsOperator,
  createOrganizationAsOperator,
  detachTenantAsOperator,
  recoverOrgAdminAsOperator,
  removeDomain,
  suspendOrgAdminAsOperator,
  vouchForDomain,
  type NamedOrgAdmin,
} from './organization-commands.ts';
import type { WithApplication } from './application.ts';

export function addOrganizationCommands(program: Command, withApplication: WithApplication): void {
  const org = program.command('org').description('Manage organizations, which administer tenants');
  org
    .command('create')
    .description("Create an organization; its owner's temporary password is printed on the last line")
    .requiredOption('--name <name>')
    .option('--slug <slug>', 'derived from the name if left out')
    .requiredOption('--owner-email <email>')
    .option('--base-url <url>', 'URL at which browsers reach this service')
    .action(async (options: { name: string; slug?: string; ownerEmail: string; baseUrl?: string }) => {
      const { name, slug, ownerEmail, baseUrl } = options;
      const made = await withApplication(({ services }) =>
        createOrganizationAsOperator(services, { name, slug, ownerEmail, externalBaseUrl: baseUrl }),
      );
      console.log(`Organization ${name}: ${made.organizationId}, slug ${made.slug}, owner ${ownerEmail}`);
      console.log('The owner must sign in within seven days and choose another password. Temporary password:');
      console.log(made.password);
    });
  org
    .command('attach')
    .description('Attach a tenant to an organization')
    .requiredOption('--slug <slug>', 'the organization')
    .requiredOption('--tenant <id|slug>')
    .action(async ({ slug, tenant }: { slug: string; tenant: string }) => {
      await withApplication(({ services }) => attachTenantAsOperator(services, { slug, tenant }));
      console.log(`Tenant ${tenant} belongs to ${slug}`);
    });
  org
    .command('detach')
    .description('Detach a tenant from its organization')
    .requiredOption('--slug <id|slug>', 'the organization')
    .requiredOption('--tenant <id|slug>')
    .action(async ({ slug, tenant }: { slug: string; tenant: string }) => {
      const { switchedOff, stillEnabled } = await withApplication(({ services }) =>
        detachTenantAsOperator(services, { slug, tenant }),
      );
      console.log(`Tenant ${tenant} no longer belongs to ${slug}`);
      for (const name of switchedOff)
        console.log(`The organization's provider "${name}" is switched off, and its sessions have ended`);
      for (const name of stillEnabled) console.log(`Its admins still sign in through its own provider "${name}"`);
    });
  org
    .command('recover')
    .description('Recover the account of an organization admin; the temporary password is printed on the last line')
    .requiredOption('--slug <id|slug>', 'the organization')
    .requiredOption('--email <email>')
    .action(async (named: NamedOrgAdmin) => {
      const { password, liftedSso } = await withApplication(({ services }) =>
        recoverOrgAdminAsOperator(services, named),
      );
      if (liftedSso)
        console.log(`${named.slug} no longer requires single sign-on: all of its admins can sign in with passwords`);
      console.log(
        `${named.email} no longer has a second factor. Temporary password, valid for seven days and one sign-in:`,
      );
      console.log(password);
    });
  org
    .command('suspend')
    .description('Suspend an organization admin and end their sessions; not the last active owner')
    .requiredOption('--slug <id|slug>', 'the organization')
    .requiredOption('--email <email>')
    .action(async (named: NamedOrgAdmin) => {
      await withApplication(({ services }) => suspendOrgAdminAsOperator(services, named));
      console.log(`${named.email} is suspended`);
    });
  org
    .command('verify-domain')
    .description('Mark an e-mail domain as verified for an organization that cannot prove it by DNS')
    .requiredOption('--slug <id|slug>', 'the organization')
    .requiredOption('--domain <domain>')
    .action(async (named: { slug: string; domain: string }) => {
      await withApplication(({ services }) => vouchForDomain(services, named));
      console.log(
        `E-mails of ${named.domain} lead to the provider of ${named.slug}, if its configuration names the domain`,
      );
    });
  org
    .command('remove-domain')
    .description('Remove an e-mail domain from an organization')
    .requiredOption('--slug <id|slug>', 'the organization')
    .requiredOption('--domain <domain>')
    .action(async (named: { slug: string; domain: string }) => {
      await withApplication(({ services }) => removeDomain(services, named));
      console.log(`E-mails of ${named.domain} no longer lead to ${named.slug}`);
    });
}
