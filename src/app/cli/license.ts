import { createPrivateKey, randomUUID, sign } from 'node:crypto';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { readConfig } from '../config/config.ts';
import { licenseSchema, tiers } from '../../contexts/tenants/domain/license.ts';
import { licenseSigningKey } from '../config/key-files.ts';

const DAY = 86_400_000;

export function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('must be a whole number of at least 1');
  return Number(text);
}

/** `license issue` signs with the key that an embedded installation generated. The last line is the license key. */
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
    .action(({ client, tier, maxUsers, days }: { client: string; tier: string; maxUsers: number; days: number }) => {
      const { dataDir } = readConfig(process.env);
      const key = createPrivateKey(licenseSigningKey(dataDir));
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
