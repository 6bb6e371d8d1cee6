import type { Command } from 'commander';
import { ConfigError } from '../../platform/config-error.ts';
import { eventStoreUrl } from '../config/config.ts';
import { secretFile } from '../config/given-settings.ts';
import { openAdministration } from '../../platform/eventstore/eventstoredb/administration.ts';

interface Asked {
  readonly grant?: boolean;
  readonly exclusive?: boolean;
  readonly createUser?: boolean;
}

/** `user:password` of a server administrator. Never an argument, because every user of the machine can see those. */
function administrator(env: NodeJS.ProcessEnv): { username: string; password: string } | undefined {
  const { EVENTSTORE_ADMIN: given, EVENTSTORE_ADMIN_FILE: file } = env;
  const text = file ? secretFile('EVENTSTORE_ADMIN_FILE', file) : given;
  if (!text) return undefined;
  const at = text.indexOf(':');
  if (at < 1)
    throw new ConfigError(`${file ? 'EVENTSTORE_ADMIN_FILE' : 'EVENTSTORE_ADMIN'} needs the form user:password`);
  return { username: text.slice(0, at), password: text.slice(at + 1) };
}

async function rights({ grant = false, exclusive = false, createUser = false }: Asked): Promise<void> {
  const url = eventStoreUrl(process.env);
  if (!url) throw new ConfigError('set EVENTSTORE_URL or EVENTSTORE_URL_FILE: without it the events are in PostgreSQL');
  const admin = administrator(process.env);
  if ((grant || createUser) && !admin)
    throw new ConfigError(
      'set EVENTSTORE_ADMIN=user:password, or EVENTSTORE_ADMIN_FILE to a file that holds it: --grant and --create-user need a server administrator',
    );
  if (exclusive && !grant) throw new ConfigError('--exclusive needs --grant');
  const { lines, isSufficient } = await openAdministration(url, admin, async (server) => {
    if (createUser) process.stdout.write(`${await server.createUser()}\n`);
    return server.rights({ grant, exclusive });
  });
  for (const line of lines) process.stdout.write(`${line}\n`);
  if (!isSufficient) process.exitCode = 1;
}

export function addEventStoreCommands(program: Command): void {
  program
    .command('eventstore')
    .description('Prepare EventStoreDB or KurrentDB for the service')
    .command('rights')
    .description('List the rights that the user of EVENTSTORE_URL lacks; exit code 1 if one is missing')
    .option('--grant', 'grant them, as the administrator in EVENTSTORE_ADMIN (user:password) or EVENTSTORE_ADMIN_FILE')
    .option('--create-user', 'first create the user of EVENTSTORE_URL with its password, unless there is one')
    .option(
      '--exclusive',
      "with --grant: revoke all other users' rights on streams without an access list of their own",
    )
    .action(rights);
}
