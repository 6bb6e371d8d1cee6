import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { chainOwners, type ChainOwnersDependencies } from '../../contexts/audit/chain-owners.ts';
import { evidenceOf, verifyChain, type VerifyDependencies } from '../../contexts/audit/verify.ts';
import { compose } from '../compose/compose.ts';
import { readConfig, type Config } from '../config/config.ts';
import { findEmbeddedPostgres } from '../../platform/embedded/postgres.ts';
import { EventStoreDbEventStore } from '../../platform/eventstore/eventstoredb/eventstoredb-event-store.ts';
import { PostgresEventStore } from '../../platform/eventstore/postgres/postgres-event-store.ts';
import { FailureError, conflict, invalid } from '../../platform/kernel/failure.ts';
import { CopyFrom } from '../../contexts/installation/log-copy/copy-from.ts';
import { clearRecord, copyRecord, type Direction } from '../../contexts/installation/log-copy/copy-record.ts';
import { CopyTo } from '../../contexts/installation/log-copy/copy-to.ts';
import type { CopyParts, LogCopy } from '../../contexts/installation/log-copy/log-copy.ts';
import { unsealLog } from '../../contexts/installation/log-copy/moved-log.ts';
import { switchLog } from '../../contexts/installation/log-copy/switch.ts';
import { commandLogger } from './command-log.ts';
import type { Logger } from 'pino';
import type { Database } from '../../platform/database/database.ts';
import type { EventStore } from '../../platform/eventstore/port.ts';
import type { EventCodec } from '../../platform/eventstore/codec.ts';

export interface LogCliDependencies extends ChainOwnersDependencies, VerifyDependencies {
  readonly log: Logger;
  readonly database: Database;
  readonly store: EventStore;
  readonly codec: EventCodec;
}

interface Options {
  readonly to?: string;
  readonly from?: string;
  readonly finish?: boolean;
}

const SAY_EVERY_MS = 2_000;

/** A URL may hold a password, which must not be on the command line: `file:PATH` and `env:NAME` name its source. */
export function urlOf(given: string): string {
  if (given.startsWith('file:')) return readFileSync(given.slice('file:'.length), 'utf8').trim();
  if (!given.startsWith('env:')) return given;
  const value = process.env[given.slice('env:'.length)];
  if (!value) throw new FailureError(invalid('--to', `the variable ${given.slice('env:'.length)} is not set`));
  return value.trim();
}

export interface CopyEndpoints {
  readonly direction: Direction;
  readonly url: string;
}

/** Opens a copy whose source is the services' own store. `close` closes the stores that it opened. */
export async function openLogCopy(
  services: LogCliDependencies,
  { direction, url }: CopyEndpoints,
): Promise<{ copy: LogCopy; parts: CopyParts; close: () => Promise<void> }> {
  const { database, codec, store } = services;
  const parts: CopyParts = { source: store, owner: database.owner, isLasting: (type) => codec.isLasting(type) };
  const server = new EventStoreDbEventStore(url, { warn: (message) => services.log.warn(message) });
  const own = new PostgresEventStore(database.store, database.config);
  const close = async () => void (await Promise.all([server.close(), own.close()]));
  try {
    const copy =
      direction === 'to' ? await CopyTo.open(parts, server, url) : await CopyFrom.open(parts, server, own, url);
    return { copy, parts, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Copies the existing events. With `finish`, also verifies the copy and makes it the log of this installation. Returns the
 * number of invalid audit chains.
 */
export async function copyLog(
  services: LogCliDependencies,
  endpoints: CopyEndpoints,
  finish: boolean,
  say: (line: string) => void,
): Promise<number> {
  const { copy, parts, close } = await openLogCopy(services, endpoints);
  try {
    let said = Date.now();
    while (await copy.step()) {
      if (Date.now() - said < SAY_EVERY_MS) continue;
      said = Date.now();
      const { events, sourcePosition } = copy.record;
      // Read again, because the service keeps writing.
      const head = await services.store.head();
      say(`${events} events copied, position ${sourcePosition} of ${head} (${percent(sourcePosition, head)} %)`);
    }
    if (!finish) await copy.settle();
    else await switchLog(copy, parts);
    for (const [tenantId, { events, hash }] of [...copy.hashes.all].sort())
      say(`same    ${tenantId}: ${events} events, sha256 ${hash.toString('hex')}`);
    if (!finish) {
      say(
        `${copy.record.events} events copied. Repeat this to copy what has come since; stop the service and add --finish to switch.`,
      );
      return 0;
    }
    return await verifyChains({ ...services, store: copy.target }, say);
  } finally {
    await close();
  }
}

const percent = (position: bigint, head: bigint): number =>
  head === 0n ? 100 : Math.min(100, Number((position * 100n) / head));

async function verifyChains(services: LogCliDependencies, say: (line: string) => void): Promise<number> {
  let broken = 0;
  for (const { id, name } of await chainOwners(services)) {
    const { valid, entriesChecked, reason, firstInvalidSequence } = await verifyChain(evidenceOf(services), id);
    if (!valid) broken += 1;
    say(
      `${valid ? 'valid  ' : 'BROKEN '} ${name} ${id}: ${entriesChecked} audit entries${valid ? '' : `, ${reason} at ${firstInvalidSequence}`}`,
    );
  }
  return broken;
}

/** Runs `work` with an application that neither projects nor reacts, on the log to be copied. */
async function withSource<T>(config: Config, work: (services: LogCliDependencies) => Promise<T>): Promise<T> {
  const running = config.databaseUrl ? undefined : findEmbeddedPostgres(join(config.dataDir, 'postgres'));
  const log = commandLogger();
  const application = await compose(config, {
    log,
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

function endpointsOf({ to, from }: Options): CopyEndpoints {
  if ((to === undefined) === (from === undefined))
    throw new FailureError(invalid('--to', 'set either --to or --from, with the URL of EventStoreDB'));
  return { direction: to === undefined ? 'from' : 'to', url: urlOf((to ?? from)!) };
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

/** Abandons a copy that has not been finished. The service keeps its log. */
export async function abandonLogCopy(services: LogCliDependencies): Promise<void> {
  const { owner } = services.database;
  const record = await copyRecord(owner);
  if (!record) throw new FailureError(conflict('command_refused', 'no copy has been started'));
  if (record.isFinished)
    throw new FailureError(
      conflict(
        'command_refused',
        `the copy ${record.direction} ${record.servers} has been finished: the way back is a copy in the other direction`,
      ),
    );
  await clearRecord(owner);
  if (record.direction === 'to') await unsealLog(owner);
  else await owner.query('truncate events, claims, stream_retention');
}

/** Deletes the log that stayed in PostgreSQL after the switch to EventStoreDB. */
export async function discardCopiedLog(services: LogCliDependencies): Promise<void> {
  const { owner } = services.database;
  const record = await copyRecord(owner);
  if (!record?.isFinished || record.direction !== 'to')
    throw new FailureError(conflict('command_refused', 'the log in PostgreSQL has not been moved to EventStoreDB'));
  await owner.query('truncate events, claims, stream_retention');
}

export function addLogCommands(program: Command): void {
  const log = program.command('log').description('Move the event log from PostgreSQL to EventStoreDB, or back');
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
    )
    .action(async (options: Options) => {
      const endpoints = endpointsOf(options);
      const config = sourceConfig(readConfig(process.env), endpoints);
      const broken = await withSource(config, (services) =>
        copyLog(services, endpoints, options.finish ?? false, (line) => console.log(line)),
      );
      if (options.finish)
        console.log(
          endpoints.direction === 'to'
            ? 'Set EVENTSTORE_URL and start the service.'
            : 'Remove EVENTSTORE_URL and start the service.',
        );
      if (broken > 0) process.exitCode = 1;
    });
  log
    .command('abandon')
    .description('Abandon a copy that has not been finished')
    .action(async () => {
      await withSource(readConfig(process.env), abandonLogCopy);
      console.log(
        'The copy was abandoned. The events it wrote to EventStoreDB stay there; the service keeps using its log.',
      );
    });
  log
    .command('discard')
    .description('Delete the log in PostgreSQL, after it was moved to EventStoreDB')
    .action(async () => {
      await withSource(readConfig(process.env), discardCopiedLog);
      console.log('The log in PostgreSQL was deleted. The one in EventStoreDB is the log of this installation.');
    });
}
