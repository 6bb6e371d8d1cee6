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
import type { WithApplication } from './application.ts';
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

export function addTenantCommands(program: Command, withApplication: WithApplication): void {
  const tenantCommand = program.command('tenant').description('Create tenants of this installation');
  tenantCommand
    .command('create')
    .description("Create a tenant; its first admin's password is printed on the last line")
    .requiredOption('--name <name>')
    .requiredOption('--email <email>', 'e-mail of the first admin')
    .requiredOption('--license <key>', 'a license key, see `license issue`')
    .option(
      '--base-url <url>',
      'URL at which browsers reach this service; by default that of the first tenant, or else where this service listens',
    )
    .action(
      async ({ name, email, license, baseUrl }: { name: string; email: string; license: string; baseUrl?: string }) => {
        const { tenantId, password, externalBaseUrl } = await withApplication(({ services }) =>
          createTenant(services, { name, email, licenseKey: license, baseUrl }),
        );
        console.log(`Tenant ${name}: ${tenantId}, first admin ${email}`);
        console.log(`Reached at ${externalBaseUrl} (changed in the settings, or with \`tenant set-base-url\`)`);
        console.log(password);
      },
    );
  tenantCommand
    .command('set-base-url <tenant> <url>')
    .description('Change the URL at which browsers reach a tenant (id or slug)')
    .action(async (named: string, url: string) => {
      const { externalBaseUrl } = await withApplication(({ services }) => setBaseUrl(services, { tenant: named, url }));
      console.log(`Reached at ${externalBaseUrl}. Enter the new redirect addresses at the identity providers.`);
    });
}
