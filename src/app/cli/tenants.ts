import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { setUpTenant, SETUP_CLAIM, type SetUpTenant } from '../../../commands/tenants/set-up-tenant.ts';
import { randomPassword } from '../../contexts/identity/passwords.ts';
import { system } from '../../platform/kernel/actor.ts';
import { isFailure, orThrow } from '../../platform/kernel/failure.ts';
import { asTenantId, INSTALLATION } from '../../platform/kernel/ids.ts';
import type { WithApplication } from './application.ts';
import type { Executor } from '../../platform/execution/executor.ts';
import type { CommandPorts, WithClaimHolder } from '../../../commands/ports.ts';

export interface TenantsCliDependencies {
  readonly executor: Executor<CommandPorts>;
  readonly ports: WithClaimHolder;
}

interface NewTenant {
  readonly name: string;
  readonly email: string;
  readonly licenseKey: string;
  readonly baseUrl: string;
}

/** Creates a tenant with a first admin. Returns the admin's password, which must be changed at the first sign-in. */
export async function createTenant(
  { executor, ports }: TenantsCliDependencies,
  { name, email, licenseKey, baseUrl }: NewTenant,
) {
  const tenantId = asTenantId(randomUUID());
  const password = randomPassword();
  const first = (await ports.claimHolder(INSTALLATION, SETUP_CLAIM)) === undefined;
  const input: SetUpTenant = {
    name,
    email,
    password,
    displayName: name,
    licenseKey,
    externalBaseUrl: baseUrl,
    adminId: randomUUID(),
    mustChangePassword: true,
    // The first tenant also completes set-up, because there is an admin now.
    completesSetup: first,
  };
  const issuer = { tenantId, actor: system('castellan tenant create') };
  const outcome = await executor.execute(setUpTenant, input, issuer);
  const lostSetup = isFailure(outcome) && first && outcome.kind === 'forbidden';
  orThrow(lostSetup ? await executor.execute(setUpTenant, { ...input, completesSetup: false }, issuer) : outcome);
  return { tenantId, password };
}

export function addTenantCommands(program: Command, withApplication: WithApplication): void {
  program
    .command('tenant')
    .description('Create tenants of this installation')
    .command('create')
    .description("Create a tenant; its first admin's password is printed on the last line")
    .requiredOption('--name <name>')
    .requiredOption('--email <email>', 'e-mail of the first admin')
    .requiredOption('--license <key>', 'a license key, see `license issue`')
    .option('--base-url <url>', 'URL at which browsers reach this service', 'http://127.0.0.1:8080')
    .action(
      async ({ name, email, license, baseUrl }: { name: string; email: string; license: string; baseUrl: string }) => {
        const { tenantId, password } = await withApplication(({ services }) =>
          createTenant(services, { name, email, licenseKey: license, baseUrl }),
        );
        console.log(`Tenant ${name}: ${tenantId}, first admin ${email}`);
        console.log(password);
      },
    );
}
