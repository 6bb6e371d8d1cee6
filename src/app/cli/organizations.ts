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
  const org = program.command('org').description('organizations that run tenants');
  org
    .command('create')
    .description("make an organization; its owner's temporary password is printed on the last line")
    .requiredOption('--name <name>')
    .option('--slug <slug>', 'made from the name when left out')
    .requiredOption('--owner-email <email>')
    .option('--base-url <url>', 'where browsers reach this service')
    .action(async (options: { name: string; slug?: string; ownerEmail: string; baseUrl?: string }) => {
      const { name, slug, ownerEmail, baseUrl } = options;
      const made = await withApplication(({ services }) =>
        createOrganizationAsOperator(services, { name, slug, ownerEmail, externalBaseUrl: baseUrl }),
      );
      console.log(`Organization ${name}: ${made.organizationId}, slug ${made.slug}, owner ${ownerEmail}`);
      console.log('The owner chooses another password at the first sign-in, within seven days');
      console.log(made.password);
    });
  org
    .command('attach')
    .description('put a tenant under an organization')
    .requiredOption('--slug <slug>', "the organization's")
    .requiredOption('--tenant <id|slug>')
    .action(async ({ slug, tenant }: { slug: string; tenant: string }) => {
      await withApplication(({ services }) => attachTenantAsOperator(services, { slug, tenant }));
      console.log(`Tenant ${tenant} belongs to ${slug}`);
    });
  org
    .command('detach')
    .description('let a tenant go from its organization')
    .requiredOption('--slug <id|slug>', "the organization's")
    .requiredOption('--tenant <id|slug>')
    .action(async ({ slug, tenant }: { slug: string; tenant: string }) => {
      const { switchedOff, stillEnabled } = await withApplication(({ services }) =>
        detachTenantAsOperator(services, { slug, tenant }),
      );
      console.log(`Tenant ${tenant} belongs to ${slug} no longer`);
      for (const name of switchedOff)
        console.log(
          `The organization's provider "${name}" is switched off, and sessions that began through it are over`,
        );
      for (const name of stillEnabled) console.log(`Its admins still sign in through its own provider "${name}"`);
    });
  org
    .command('recover')
    .description(
      'let an admin of an organization in again, whatever locks them out; their temporary password is printed on the last line',
    )
    .requiredOption('--slug <id|slug>', "the organization's")
    .requiredOption('--email <email>')
    .action(async (named: NamedOrgAdmin) => {
      const { password, liftedSso } = await withApplication(({ services }) =>
        recoverOrgAdminAsOperator(services, named),
      );
      if (liftedSso) console.log(`${named.slug} requires single sign-on no longer: passwords let in all of its admins`);
      console.log(`${named.email} has no second factor any more, and within seven days signs in once with`);
      console.log(password);
    });
  org
    .command('suspend')
    .description('shut an admin out of an organization and end their sessions; not its last active owner')
    .requiredOption('--slug <id|slug>', "the organization's")
    .requiredOption('--email <email>')
    .action(async (named: NamedOrgAdmin) => {
      await withApplication(({ services }) => suspendOrgAdminAsOperator(services, named));
      console.log(`${named.email} is suspended`);
    });
  org
    .command('verify-domain')
    .description("vouch that an e-mail domain is an organization's own, where it cannot prove it by DNS")
    .requiredOption('--slug <id|slug>', "the organization's")
    .requiredOption('--domain <domain>')
    .action(async (named: { slug: string; domain: string }) => {
      await withApplication(({ services }) => vouchForDomain(services, named));
      console.log(
        `E-mails of ${named.domain} lead to the provider of ${named.slug}, where its configuration names the domain`,
      );
    });
  org
    .command('remove-domain')
    .description('take an e-mail domain away from an organization')
    .requiredOption('--slug <id|slug>', "the organization's")
    .requiredOption('--domain <domain>')
    .action(async (named: { slug: string; domain: string }) => {
      await withApplication(({ services }) => removeDomain(services, named));
      console.log(`E-mails of ${named.domain} lead to ${named.slug} no longer`);
    });
}
