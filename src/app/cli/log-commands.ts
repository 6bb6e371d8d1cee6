import { join } from 'node:path';
import type { Command } from 'commander';
import { compose } from '../compose/compose.ts';
import { readConfig, type Config } from '../config/config.ts';
import { findEmbeddedPostgres } from '../../platform/embedded/postgres.ts';
import { conflict, FailureError } from '../../platform/kernel/failure.ts';
import { commandLogger } from './command-log.ts';
import { abandonLogCopy, copyLog, discardCopiedLog, type CopyEndpoints, type LogCliDependencies } from './log.ts';
import { performs, type CommandLine } from './operator-command.ts';
import { contentOf } from './option-values.ts';
import { UsageError, type Report } from './outcome.ts';
import type { Output } from './output.ts';

interface Asked {
  readonly to?: string;
  readonly from?: string;
  readonly finish?: true;
}

/** A URL may hold a password, which must not be on the command line: `file:PATH` and `env:NAME` name its source. */
function urlOf(option: string, given: string, env: NodeJS.ProcessEnv): string {
  const url = given.startsWith('file:')
    ? contentOf(option, given.slice('file:'.length)).trim()
    : given.startsWith('env:')
      ? variable(option, given.slice('env:'.length), env)
      : given;
  if (!/^(esdb|kurrentdb)(\+discover)?:\/\//i.test(url))
    throw new UsageError(`${option} must name a URL that begins with esdb:// or kurrentdb://`);
  return url;
}

function variable(option: string, name: string, env: NodeJS.ProcessEnv): string {
  const value = env[name];
  if (!value) throw new UsageError(`${option} names the variable ${name}, which is not set`);
  return value.trim();
}

function endpointsOf({ to, from }: Asked, env: NodeJS.ProcessEnv): CopyEndpoints {
  if (to !== undefined && from === undefined) return { direction: 'to', url: urlOf('--to', to, env) };
  if (from !== undefined && to === undefined) return { direction: 'from', url: urlOf('--from', from, env) };
  throw new UsageError('set either --to or --from, with the URL of EventStoreDB');
}

/** The settings that make the log to be copied the service's own. */
function sourceConfig(config: Config, { direction, url }: CopyEndpoints): Config {
  if (direction === 'from') return { ...config, eventStoreUrl: url };
  if (config.eventStoreUrl)
    throw new FailureError(
      conflict(
        'command_refused',
        'EVENTSTORE_URL is set: the log is in EventStoreDB already, and --to copies the one in PostgreSQL',
      ),
    );
  return config;
}

/** Runs `work` with an application that neither projects nor reacts, on the log to be copied. */
async function withSource<T>(
  env: NodeJS.ProcessEnv,
  config: Config,
  work: (services: LogCliDependencies) => Promise<T>,
): Promise<T> {
  const running = config.databaseUrl ? undefined : findEmbeddedPostgres(join(config.dataDir, 'postgres'));
  const application = await compose(config, {
    log: commandLogger(env),
    listen: false,
    project: false,
    ...(running ? { database: { ...running } } : {}),
  });
  try {
    return await work(application.services);
  } finally {
    await application.stop();
  }
}

async function copy(env: NodeJS.ProcessEnv, output: Output, asked: Asked): Promise<Report> {
  const endpoints = endpointsOf(asked, env);
  const config = sourceConfig(readConfig(env), endpoints);
  const finish = asked.finish === true;
  const copied = await withSource(env, config, (services) => copyLog(services, endpoints, finish, output.say));
  if (finish)
    output.say(
      endpoints.direction === 'to'
        ? 'Set EVENTSTORE_URL and start the service.'
        : 'Remove EVENTSTORE_URL and start the service.',
    );
  return {
    result: { direction: endpoints.direction, finished: finish, ...copied },
    isFinding: copied.chains.some(({ valid }) => !valid),
  };
}

export function addLogCommands(program: Command, cli: CommandLine): void {
  const { env } = cli.terminal;
  const log = program.command('log').description('Move the event log from PostgreSQL to EventStoreDB, or back');
  performs(
    cli,
    log
      .command('copy')
      .description(
        'Copy the log while the service runs; repeat this, then stop the service and use --finish. Exit code 1 if an audit chain is invalid',
      )
      .option('--to <url>', 'from PostgreSQL to EventStoreDB: esdb://…, or file:PATH or env:NAME that holds it')
      .option('--from <url>', 'from EventStoreDB to PostgreSQL')
      .option(
        '--finish',
        'after the service has stopped: copy the rest, verify the copy, and move checkpoints and audit log to it',
      ),
    'changes',
    (output, asked: Asked) => copy(env, output, asked),
    {
      question: (asked) => {
        endpointsOf(asked, env);
        return asked.finish
          ? 'This switches the installation to the copied log. Every process of the service must be stopped.'
          : undefined;
      },
    },
  );
  performs(
    cli,
    log.command('abandon').description('Abandon a copy that has not been finished'),
    'changes',
    async (output) => {
      await withSource(env, readConfig(env), abandonLogCopy);
      output.say(
        'The copy was abandoned. The events it wrote to EventStoreDB stay there; the service keeps using its log.',
      );
      return { result: { abandoned: true } };
    },
    { question: () => 'This forgets the unfinished copy: it has to begin again in an empty server.' },
  );
  performs(
    cli,
    log.command('discard').description('Delete the log in PostgreSQL, after it was moved to EventStoreDB'),
    'changes',
    async (output) => {
      await withSource(env, readConfig(env), discardCopiedLog);
      output.say('The log in PostgreSQL was deleted. The one in EventStoreDB is the log of this installation.');
      return { result: { discarded: true } };
    },
    { question: () => 'This deletes the log in PostgreSQL. The one in EventStoreDB is the only one from then on.' },
  );
}
