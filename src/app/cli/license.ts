import { createPrivateKey, randomUUID, sign, type KeyObject } from 'node:crypto';
import { Option, type Command } from 'commander';
import { licenseUsage } from '../../../queries/tenants/license-usage.ts';
import { readConfig } from '../config/config.ts';
import { licenseSigningKey, signingKeyFrom } from '../config/key-files.ts';
import { ConfigError } from '../../platform/config-error.ts';
import { licenseSchema, tiers } from '../../contexts/tenants/domain/license.ts';
import { isFailure } from '../../platform/kernel/failure.ts';
import { asTenantId } from '../../platform/kernel/ids.ts';
import { performs, type CommandLine } from './operator-command.ts';
import { contentOf, textUpTo, wholeNumber } from './option-values.ts';
import type { Report } from './outcome.ts';
import type { Output } from './output.ts';
import { namedTenants, type NamedTenantsDependencies } from './named-tenants.ts';

const DAY = 86_400_000;
const HUNDRED_YEARS = 36_500;

interface Ordered {
  readonly client: string;
  readonly tier: (typeof tiers)[number];
  readonly maxUsers: number;
  readonly days: number;
  readonly signingKey?: string;
}

function embeddedSigningKey(env: NodeJS.ProcessEnv): KeyObject {
  const { dataDir, databaseUrl } = readConfig(env);
  if (databaseUrl !== undefined)
    throw new ConfigError('with DATABASE_URL, name the file with the license signing key: --signing-key FILE');
  return createPrivateKey(licenseSigningKey(dataDir));
}

function issueLicense(env: NodeJS.ProcessEnv, { client, tier, maxUsers, days, signingKey }: Ordered) {
  const key =
    signingKey === undefined
      ? embeddedSigningKey(env)
      : signingKeyFrom(signingKey, contentOf('--signing-key', signingKey));
  const now = Date.now();
  const license = licenseSchema.parse({
    licenseId: randomUUID(),
    clientName: client,
    tier,
    maxUsers,
    issuedAt: new Date(now).toISOString(),
    expiresAt: new Date(now + days * DAY).toISOString(),
    maxEventRetentionDays: 365,
    maxStreamRetentionDays: 730,
    features: [],
  });
  const payload = Buffer.from(JSON.stringify(license)).toString('base64url');
  return { license, licenseKey: `${payload}.${sign(null, Buffer.from(payload, 'ascii'), key).toString('base64url')}` };
}

/** The license of one tenant, or of all. A tenant whose license has expired is a finding. */
async function showLicenses(
  services: NamedTenantsDependencies,
  output: Output,
  { tenant }: { tenant?: string },
): Promise<Report> {
  const licenses = [];
  for (const { id, slug } of await namedTenants(services, tenant)) {
    const license = await licenseUsage(services.reads(asTenantId(id)), { now: Date.now() });
    if (isFailure(license)) continue;
    licenses.push({ tenantId: id, slug, ...license });
    const { clientName, tier, currentUsers, maxUsers, expiresAt, isExpired } = license;
    output.say(
      `${slug} ${id}: ${clientName}, ${tier}, ${currentUsers} of ${maxUsers} users, ${isExpired ? 'EXPIRED' : 'until'} ${expiresAt}`,
    );
  }
  if (licenses.length === 0) output.say('there is no tenant with a license');
  return { result: { licenses }, isFinding: licenses.some(({ isExpired }) => isExpired) };
}

/** `license issue` signs with the key in a file, or with the one that an embedded installation generated. The last line is the license key. */
export function addLicenseCommands(program: Command, cli: CommandLine): void {
  const license = program.command('license').description('Issue and show licenses of this installation');
  performs(
    cli,
    license
      .command('issue')
      .description('Sign a license key; it is printed on the last line')
      .requiredOption('--client <name>', 'name of the licensee', textUpTo(200))
      .addOption(new Option('--tier <tier>', 'what the license grants').choices(tiers).makeOptionMandatory())
      .requiredOption('--max-users <n>', 'maximum number of monitored employees', wholeNumber(10_000_000))
      .requiredOption('--days <n>', 'validity in days', wholeNumber(HUNDRED_YEARS))
      .option(
        '--signing-key <file>',
        'file with the license signing key: PEM, or what `castellan keys make` printed; by default the key in DATA_DIR',
      ),
    'looks',
    (output, ordered: Ordered) => {
      const issued = issueLicense(cli.terminal.env, ordered);
      const { clientName, tier, maxUsers, expiresAt } = issued.license;
      output.say(`License for ${clientName}: ${tier}, ${maxUsers} users, until ${expiresAt}`);
      output.say(issued.licenseKey);
      return { result: issued };
    },
  );
  performs(
    cli,
    license
      .command('show')
      .description('Show the license of every tenant, or of one, and its use; exit code 1 if one has expired')
      .option('--tenant <id|slug>', 'only this tenant'),
    'looks',
    (output, named: { tenant?: string }) =>
      cli.withApplication(({ services }) => showLicenses(services, output, named)),
  );
}
