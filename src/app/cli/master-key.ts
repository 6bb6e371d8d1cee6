import { join } from 'node:path';
import type { Command } from 'commander';
import { recordMasterKey } from '../../../commands/installation/record-master-key.ts';
import { ConfigError } from '../../platform/config-error.ts';
import { dataDirectory, type Config } from '../config/config.ts';
import { findEmbeddedPostgres } from '../../platform/embedded/postgres.ts';
import { KeyFiles } from '../config/key-files.ts';
import { system } from '../../platform/kernel/actor.ts';
import { orThrow } from '../../platform/kernel/failure.ts';
import { INSTALLATION } from '../../platform/kernel/ids.ts';
import { Keyring } from '../../platform/vault/keyring.ts';
import { masterKeyUses, rewrap, type Rewrapped } from '../../platform/vault/rewrap.ts';
import { performs, type CommandLine } from './operator-command.ts';
import type { Report } from './outcome.ts';
import type { Output } from './output.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Executor } from '../../platform/execution/executor.ts';
import type { CommandPorts } from '../../../commands/ports.ts';

/** These commands need the master keys themselves, which are not in the service container. */
export interface MasterKeyCliDependencies {
  readonly config: Pick<Config, 'masterKey' | 'otherMasterKey'>;
  readonly services: { readonly database: Database; readonly executor: Executor<CommandPorts> };
}

const otherOf = ({ otherMasterKey }: MasterKeyCliDependencies['config']): Keyring | undefined =>
  otherMasterKey && new Keyring(otherMasterKey);

/** Rewraps all keys with the current master key, retires the others, and records that in the audit log. Idempotent. */
export async function rewrapKeys({
  config,
  services: { database, executor },
}: MasterKeyCliDependencies): Promise<Rewrapped & { fingerprint: string }> {
  const current = new Keyring(config.masterKey);
  const { fingerprint } = current;
  // A retired key may still open here: another process may have wrapped with it since.
  const rewrapped = await rewrap(database.owner, { current, other: otherOf(config) });
  orThrow(
    await executor.execute(
      recordMasterKey,
      { fingerprint, retired: rewrapped.retired },
      { tenantId: INSTALLATION, actor: system('castellan master-key rewrap') },
    ),
  );
  return { ...rewrapped, fingerprint };
}

async function showUses({ config, services: { database } }: MasterKeyCliDependencies, output: Output): Promise<Report> {
  const current = new Keyring(config.masterKey).fingerprint;
  const other = otherOf(config)?.fingerprint;
  const keys = (await masterKeyUses(database.owner)).map(({ fingerprint, tenantKeys, keptKeys, isRetired }) => ({
    fingerprint,
    isCurrent: fingerprint === current,
    isOther: fingerprint !== undefined && fingerprint !== null && fingerprint === other,
    isRetired,
    tenantKeys,
    installationKeys: keptKeys,
  }));
  for (const { fingerprint, tenantKeys, installationKeys, isCurrent, isOther, isRetired } of keys) {
    const role = [isCurrent && 'MASTER_KEY', isOther && 'the other at hand', isRetired && 'retired']
      .filter(Boolean)
      .join(', ');
    output.say(
      `${fingerprint ?? '(not said)      '} opens the keys of ${tenantKeys} tenants, ${installationKeys} of the installation${role && `: ${role}`}`,
    );
  }
  return { result: { keys } };
}

/** Replaces the key file of an embedded installation that is not running. Elsewhere the operator keeps the keys. */
function replaceFile(env: NodeJS.ProcessEnv): void {
  if (env['DATABASE_URL'] || env['MASTER_KEY'])
    throw new ConfigError(
      'MASTER_KEY or DATABASE_URL is set, so the key is not in DATA_DIR: see docs/operations.md for how to rotate it',
    );
  const dataDir = dataDirectory(env);
  // A service that still runs with the previous key could not read data sealed under the new one.
  if (findEmbeddedPostgres(join(dataDir, 'postgres')))
    throw new ConfigError(`a service is running on ${dataDir}: stop it first`);
  new KeyFiles(dataDir, true).replaceMasterKey();
}

export function addMasterKeyCommands(program: Command, cli: CommandLine): void {
  const masterKey = program
    .command('master-key')
    .description('Show and rotate the key that seals all other keys; see docs/operations.md first');
  performs(
    cli,
    masterKey.command('status').description('List the master keys in use and how many keys each opens'),
    'looks',
    (output) => cli.withApplication((application) => showUses(application, output)),
  );
  performs(
    cli,
    masterKey
      .command('replace')
      .description(
        'Create a new master key in DATA_DIR and keep the previous one; then start the service and run `rewrap`',
      ),
    'changes',
    (output) => {
      replaceFile(cli.terminal.env);
      output.say('A new master key is in place. Start the service, then run `master-key rewrap`.');
      return { result: { replaced: true } };
    },
    {
      question: () =>
        `This replaces the master key in ${dataDirectory(cli.terminal.env)}. Backups from now on need the new one: keep a safe copy of both.`,
    },
  );
  performs(
    cli,
    masterKey.command('rewrap').description('Rewrap all keys with MASTER_KEY and retire the previous one'),
    'changes',
    async (output) => {
      const rewrapped = await cli.withApplication(rewrapKeys);
      const { fingerprint, tenantKeys, keptKeys, retired } = rewrapped;
      output.say(
        `${fingerprint} opens everything now: wrapped anew were the keys of ${tenantKeys} tenants, ${keptKeys} of the installation`,
      );
      for (const gone of retired) output.say(`${gone} is retired: only backups from before need it`);
      return { result: { fingerprint, tenantKeys, installationKeys: keptKeys, retired } };
    },
  );
}
