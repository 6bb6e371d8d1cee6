import { join } from 'node:path';
import type { Command } from 'commander';
import { keyringsOf, loginSecret } from '../compose/prepare-database.ts';
import { ConfigError } from '../../platform/config-error.ts';
import { readConfig } from '../config/config.ts';
import { accessScript } from '../../platform/database/access-script.ts';
import { plainPool } from '../../platform/database/plain-pool.ts';
import { identifyOwner, markedOwner } from '../../platform/database/access.ts';
import { connectionOf, loginsOf } from '../../platform/database/logins.ts';
import { findEmbeddedPostgres } from '../../platform/embedded/postgres.ts';
import { performs, type CommandLine } from './operator-command.ts';

/** The SQL that creates the roles of the configured database. Also works on an empty database. */
async function rolesScript(env: NodeJS.ProcessEnv): Promise<string> {
  const config = readConfig(env);
  const connection = config.databaseUrl
    ? connectionOf(config.databaseUrl)
    : findEmbeddedPostgres(join(config.dataDir, 'postgres'));
  if (!connection) throw new ConfigError('set DATABASE_URL: the embedded database creates its roles itself');
  const owner = plainPool({ ...markedOwner({ ...connection }), max: 1 });
  try {
    const identity = await identifyOwner(owner);
    return accessScript({
      ...identity,
      logins: loginsOf(identity.database, loginSecret(await keyringsOf(owner, config), config)),
    });
  } finally {
    await owner.end();
  }
}

export function addDatabaseCommands(program: Command, cli: CommandLine): void {
  performs(
    cli,
    program
      .command('database')
      .description('Prepare PostgreSQL for the service')
      .command('roles')
      .description(
        'Print the SQL that creates the roles the service logs in as, for a database administrator; it contains no password',
      ),
    'looks',
    async (output) => {
      const sql = await rolesScript(cli.terminal.env);
      output.say(sql);
      return { result: { sql } };
    },
  );
}
