import { createPrivateKey, randomUUID, sign, type KeyObject } from 'node:crypto';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { readConfig } from '../config/config.ts';
import { licenseSchema, tiers } from '../../contexts/tenants/domain/license.ts';
import { licenseSigningKey, readSigningKey } from '../config/key-files.ts';
import { ConfigError } from '../../platform/config-error.ts';

const DAY = 86_400_000;

export function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('must be a whole number of at least 1');
  return Number(text);
}

interface AskedLicense {
  readonly client: string;
  readonly tier: string;
  readonly maxUsers: number;
  readonly days: number;
  readonly signingKey?: string;
}

function embeddedSigningKey(): KeyObject {
  const { dataDir, databaseUrl } = readConfig(process.env);
  if (databaseUrl !== undefined)
    throw new ConfigError('with DATABASE_URL, name the file with the license signing key: --signing-key FILE');
  return createPrivateKey(licenseSigningKey(dataDir));
}

/** `license issue` signs with the key in a file, or with the one that an embedded installation generated. The last line is the license key. */
export function addLicenseCommands(program: Command): void {
  program
    .command('license')
    .description('Issue licenses of this installation')
    .command('issue')
    .description('Sign a license key; it is printed on the last line')
    .requiredOption('--client <name>', 'name of the licensee')
    .addOption(new Option('--tier <tier>', 'what the license grants').choices(tiers).makeOptionMandatory())
    .requiredOption('--max-users <n>', 'maximum number of monitored employees', wholeNumber)
    .requiredOption('--days <n>', 'validity in days', wholeNumber)
    .option(
      '--signing-key <file>',
      'file with the license signing key: PEM, or what `castellan keys make` printed; by default the key in DATA_DIR',
    )
    .action(({ client, tier, maxUsers, days, signingKey }: AskedLicense) => {
      const key = signingKey === undefined ? embeddedSigningKey() : readSigningKey(signingKey);
      const license = licenseSchema.parse({
        licenseId: randomUUID(),
        clientName: client,
        tier,
        maxUsers,
        issuedAt: new Date().toISOString(),
        expiresAt: new Date(Date.now() + days * DAY).toISOString(),
        maxEventRetentionDays: 365,
        maxStreamRetentionDays: 730,
        features: [],
      });
      const payload = Buffer.from(JSON.stringify(license)).toString('base64url');
      console.log(`License for ${client}: ${tier}, ${maxUsers} users, until ${license.expiresAt}`);
      console.log(`${payload}.${sign(null, Buffer.from(payload, 'ascii'), key).toString('base64url')}`);
    });
}
