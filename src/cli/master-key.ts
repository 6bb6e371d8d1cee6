import type { Command } from 'commander';
import { recordMasterKey } from '../../commands/vault/record-master-key.ts';
import { ConfigError } from '../config-error.ts';
import { readConfig } from '../config.ts';
import { KeyFiles } from '../key-files.ts';
import { system } from '../kernel/actor.ts';
import { orThrow } from '../kernel/failure.ts';
import { INSTALLATION } from '../kernel/ids.ts';
import type { Services } from '../services.ts';
import { openKeyrings } from '../vault/keyrings.ts';
import { masterKeyUses, rewrap, type Rewrapped } from '../vault/rewrap.ts';
import type { WithHouse } from './house.ts';

/** Has the current master key open everything, retires all others, and says so in the audit log; harmless to repeat. */
export async function rewrapKeys({ config, database, executor }: Services): Promise<Rewrapped & { fingerprint: string }> {
  const keyrings = await openKeyrings(database.owner, config.masterKey, config.otherMasterKey);
  const { fingerprint } = keyrings.current;
  const rewrapped = await rewrap(database.owner, keyrings);
  orThrow(await executor.execute(recordMasterKey, { fingerprint, retired: rewrapped.retired }, { tenantId: INSTALLATION, actor: system('castellan master-key rewrap') }));
  return { ...rewrapped, fingerprint };
}

async function printUses({ database }: Services): Promise<void> {
  for (const { fingerprint, tenantKeys, keptKeys } of await masterKeyUses(database.owner)) {
    console.log(`${fingerprint ?? '(of before)     '}  opens the keys of ${tenantKeys} tenants, ${keptKeys} of the installation`);
  }
}

/** The other master key is asked for where the operator keeps them; here it is made where the embedded default keeps it. */
function replaceFile(): void {
  const { dataDir, databaseUrl } = readConfig(process.env);
  if (databaseUrl || process.env['MASTER_KEY']) throw new ConfigError('MASTER_KEY is given from outside: set the new one there, and the one before as OTHER_MASTER_KEY');
  new KeyFiles(dataDir, true).replaceMasterKey();
}

export function addMasterKeyCommands(program: Command, withHouse: WithHouse): void {
  const masterKey = program.command('master-key').description('the key that everything sealed opens with; see docs/operations.md before you replace it');
  masterKey
    .command('status')
    .description('which master key opens how much')
    .action(() => withHouse(({ services }) => printUses(services)));
  masterKey
    .command('replace')
    .description('make a new master key in DATA_DIR; the one before stays beside it. Restart the service, then `rewrap`')
    .action(() => {
      replaceFile();
      console.log('A new master key is in place. Restart the service, then run `master-key rewrap`.');
    });
  masterKey
    .command('rewrap')
    .description('have the current master key open everything, and retire the one before')
    .action(async () => {
      const { fingerprint, tenantKeys, keptKeys, retired } = await withHouse(({ services }) => rewrapKeys(services));
      console.log(`${fingerprint} opens everything now: wrapped anew were the keys of ${tenantKeys} tenants, ${keptKeys} of the installation`);
      for (const gone of retired) console.log(`${gone} is retired: only backups from before need it`);
    });
}
