import type { Command } from 'commander';
import { ConfigError } from '../../platform/config-error.ts';
import { eventStoreUrl } from '../config/config.ts';
import { secretFile } from '../config/given-settings.ts';
import type { Administrator } from '../../platform/eventstore/eventstoredb/administration.ts';
import { performs, type CommandLine, type Granted } from './operator-command.ts';
import { UsageError, type Report } from './outcome.ts';
import type { Output } from './output.ts';

interface Asked extends Granted {
  readonly grant?: boolean;
  readonly exclusive?: boolean;
  readonly createUser?: boolean;
}

/** `user:password` of a server administrator. Never an argument, because every user of the machine can see those. */
function administrator(env: NodeJS.ProcessEnv): Administrator | undefined {
  const { EVENTSTORE_ADMIN: given, EVENTSTORE_ADMIN_FILE: file } = env;
  const setting = file ? 'EVENTSTORE_ADMIN_FILE' : 'EVENTSTORE_ADMIN';
  const text = file ? secretFile(setting, file) : given;
  if (!text) return undefined;
  const at = text.indexOf(':');
  if (at < 1) throw new ConfigError(`${setting} needs the form user:password`);
  return { username: text.slice(0, at), password: text.slice(at + 1), setting };
}

async function rights(
  env: NodeJS.ProcessEnv,
  output: Output,
  { grant = false, exclusive = false, createUser = false }: Asked,
): Promise<Report> {
  const url = eventStoreUrl(env);
  if (!url) throw new ConfigError('set EVENTSTORE_URL or EVENTSTORE_URL_FILE: without it the events are in PostgreSQL');
  const admin = administrator(env);
  if ((grant || createUser) && !admin)
    throw new ConfigError(
      'set EVENTSTORE_ADMIN=user:password, or EVENTSTORE_ADMIN_FILE to a file that holds it: --grant and --create-user need a server administrator',
    );
  // Loaded only here: its client takes longer to load than most commands run.
  const { openAdministration } = await import('../../platform/eventstore/eventstoredb/administration.ts');
  const { lines, isSufficient } = await openAdministration(url, admin, async (server) => {
    if (createUser) output.say(await server.createUser());
    return server.rights({ grant, exclusive });
  });
  for (const line of lines) output.say(line);
  return { result: { isSufficient, rights: lines }, isFinding: !isSufficient };
}

export function addEventStoreCommands(program: Command, cli: CommandLine): void {
  performs(
    cli,
    program
      .command('eventstore')
      .description('Prepare EventStoreDB or KurrentDB for the service')
      .command('rights')
      .description('List the rights that the user of EVENTSTORE_URL lacks; exit code 1 if one is missing')
      .option(
        '--grant',
        'grant them, as the administrator in EVENTSTORE_ADMIN (user:password) or EVENTSTORE_ADMIN_FILE',
      )
      .option('--create-user', 'first create the user of EVENTSTORE_URL with its password, unless there is one')
      .option(
        '--exclusive',
        "with --grant: revoke all other users' rights on streams without an access list of their own",
      ),
    'changes',
    (output, asked: Asked) => rights(cli.terminal.env, output, asked),
    {
      question: ({ grant, exclusive }) => {
        if (!exclusive) return undefined;
        if (!grant) throw new UsageError('--exclusive needs --grant');
        return 'This revokes the rights of all other users on streams without an access list of their own.';
      },
    },
  );
}
