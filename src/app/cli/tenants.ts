import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { setUpTenant, SETUP_CLAIM, type SetUpTenant } from '../../../commands/tenants/set-up-tenant.ts';
import { changeBaseUrl } from '../../../commands/tenants/change-base-url.ts';
import { findTenant, type FindTenantDependencies } from '../../contexts/tenants/find-tenant.ts';
import { randomPassword } from '../../contexts/identity/passwords.ts';
import { system } from '../../platform/kernel/actor.ts';
import { isFailure, orThrow } from '../../platform/kernel/failure.ts';
import { asTenantId, INSTALLATION } from '../../platform/kernel/ids.ts';
import { baseUrlOr, type KnownBaseUrlDependencies } from './known-base-url.ts';
import { findOrganization } from '../../contexts/organizations/find-organization.ts';
import { namedTenants } from './named-tenants.ts';
import { performs, type CommandLine } from './operator-command.ts';
import { email, textUpTo, webAddress } from './option-values.ts';
import { organizationsOfTenants, type OrganizationTenantsDependencies } from './organizations-of-tenants.ts';
import { alignedRows } from './wrapped-text.ts';
import type { Report } from './outcome.ts';
import type { Output } from './output.ts';
import type { Executor } from '../../platform/execution/executor.ts';
import type { CommandPorts, WithClaimHolder } from '../../../commands/ports.ts';

export interface TenantsCliDependencies extends KnownBaseUrlDependencies {
  readonly executor: Executor<CommandPorts>;
  readonly ports: WithClaimHolder;
}

export interface SetBaseUrlDependencies extends KnownBaseUrlDependencies, FindTenantDependencies {
  readonly executor: Executor<CommandPorts>;
}

interface NewTenant {
  readonly name: string;
  readonly email: string;
  readonly licenseKey: string;
  /** By default that of the first tenant, or else the listener's address. */
  readonly baseUrl?: string | undefined;
}

/** Creates a tenant with a first admin. Returns the admin's password, which must be changed at the first sign-in. */
export async function createTenant(services: TenantsCliDependencies, { name, email, licenseKey, baseUrl }: NewTenant) {
  const { executor, ports } = services;
  const tenantId = asTenantId(randomUUID());
  const externalBaseUrl = await baseUrlOr(services, baseUrl);
  const password = randomPassword();
  const first = (await ports.claimHolder(INSTALLATION, SETUP_CLAIM)) === undefined;
  const input: SetUpTenant = {
    name,
    email,
    password,
    displayName: name,
    licenseKey,
    externalBaseUrl,
    adminId: randomUUID(),
    mustChangePassword: true,
    // The first tenant also completes set-up, because there is an admin now.
    completesSetup: first,
  };
  const issuer = { tenantId, actor: system('castellan tenant create') };
  const outcome = await executor.execute(setUpTenant, input, issuer);
  const lostSetup = isFailure(outcome) && first && outcome.kind === 'forbidden';
  orThrow(lostSetup ? await executor.execute(setUpTenant, { ...input, completesSetup: false }, issuer) : outcome);
  return { tenantId, password, externalBaseUrl };
}

/** For operators of a tenant whose admins cannot sign in because the URL is wrong. */
export async function setBaseUrl(
  services: SetBaseUrlDependencies,
  { tenant, url }: { tenant: string; url: string },
): Promise<{ externalBaseUrl: string }> {
  const tenantId = await findTenant(services, tenant);
  const externalBaseUrl = await baseUrlOr(services, url);
  const issuer = { tenantId, actor: system('castellan tenant set-base-url') };
  orThrow(await services.executor.execute(changeBaseUrl, { externalBaseUrl }, issuer));
  return { externalBaseUrl };
}

/** All tenants with the organization that each belongs to. */
async function listTenantsOf(
  services: OrganizationTenantsDependencies,
  output: Output,
  { organization }: { organization?: string },
): Promise<Report> {
  const owners = await organizationsOfTenants(services);
  const wanted = organization === undefined ? undefined : await findOrganization(services, organization);
  const tenants = (await namedTenants(services, undefined))
    .map(({ id, name, slug }) => ({ id, slug, name, organization: owners.get(id) ?? null }))
    .filter((tenant) => wanted === undefined || tenant.organization?.id === wanted);
  const rows = tenants.map((tenant) => [tenant.id, tenant.slug, tenant.organization?.slug ?? '-', tenant.name]);
  for (const line of alignedRows([['ID', 'SLUG', 'ORGANIZATION', 'NAME'], ...rows])) output.say(line);
  return { result: { tenants } };
}

interface Ordered {
  readonly name: string;
  readonly email: string;
  readonly license: string;
  readonly baseUrl?: string;
}

export function addTenantCommands(program: Command, cli: CommandLine): void {
  const tenants = program.command('tenant').description('Create and list tenants of this installation');
  performs(
    cli,
    tenants
      .command('create')
      .description("Create a tenant; its first admin's password is printed on the last line")
      .requiredOption('--name <name>', 'name of the tenant', textUpTo(200))
      .requiredOption('--email <email>', 'e-mail of the first admin', email)
      .requiredOption('--license <key>', 'a license key, see `license issue`')
      .option(
        '--base-url <url>',
        'URL at which browsers reach this service; by default that of the first tenant, or else where this service listens',
        webAddress,
      ),
    'changes',
    async (output, { name, email: admin, license, baseUrl }: Ordered) => {
      const { tenantId, password, externalBaseUrl } = await cli.withApplication(({ services }) =>
        createTenant(services, { name, email: admin, licenseKey: license, baseUrl }),
      );
      output.say(`Tenant ${name}: ${tenantId}, first admin ${admin}`);
      output.say(`Reached at ${externalBaseUrl} (changed in the settings, or with \`tenant set-base-url\`)`);
      output.say(password);
      return { result: { tenantId, name, adminEmail: admin, externalBaseUrl, temporaryPassword: password } };
    },
  );
  performs(
    cli,
    tenants
      .command('set-base-url <tenant> <url>')
      .description('Change the URL at which browsers reach a tenant (id or slug)'),
    'changes',
    async (output, named: string, url: string) => {
      const { externalBaseUrl } = await cli.withApplication(({ services }) =>
        setBaseUrl(services, { tenant: named, url }),
      );
      output.say(`Reached at ${externalBaseUrl}. Enter the new redirect addresses at the identity providers.`);
      return { result: { externalBaseUrl } };
    },
  );
  performs(
    cli,
    tenants
      .command('list')
      .description('List the tenants, and the organization that each belongs to')
      .option('--organization <id|slug>', 'only the tenants of this organization'),
    'looks',
    (output, named: { organization?: string }) =>
      cli.withApplication(({ services }) => listTenantsOf(services, output, named)),
  );
}
