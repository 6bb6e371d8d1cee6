import { parseArgs } from 'node:util';
import { compose } from './app/compose/compose.ts';
import { startTracing } from './platform/observability/start-tracing.ts';
import { newLogger } from './platform/observability/logger.ts';
import { ConfigError } from './platform/config-error.ts';
import { readConfig, type Config } from './app/config/config.ts';
import { keepKeysPrivate } from './app/config/key-files.ts';
import { settingWarnings } from './app/config/setting-warnings.ts';
import type { ProcessRole } from './platform/database/connections.ts';
import { requireHost } from './app/http/trial-listening.ts';
import { requireWritable } from './app/config/data-directory.ts';
import { describeStartError, isLasting } from './app/operations/start-error.ts';
import { superviseProcess } from './app/operations/process-lifecycle.ts';

const ROLES: readonly ProcessRole[] = ['all', 'api', 'projector', 'worker'];

function askedRole(): ProcessRole {
  const role = ROLES.find((known) => known === givenRole());
  if (!role) throw new ConfigError(`--role must be one of ${ROLES.join(', ')}`);
  return role;
}

function givenRole(): string {
  try {
    return parseArgs({ options: { role: { type: 'string', default: 'all' } } }).values.role;
  } catch (error) {
    throw new ConfigError((error as Error).message);
  }
}

/** Wrong settings stay wrong at the next start: supervisors need not try again (decision 0098). */
const USAGE = 2;

/** More than a busy event loop takes to read what has arrived. */
const REFUSE_MS = 250;

function settings(): Config {
  try {
    return readConfig(process.env, askedRole());
  } catch (error) {
    // A setting may be wrong or missing because another name is misspelled.
    for (const advice of settingWarnings()) process.stderr.write(`castellan: ${advice}\n`);
    end(error, USAGE);
  }
}

function end(error: unknown, code: number): never {
  process.stderr.write(`castellan: ${describeStartError(error)}\n`);
  process.exit(code);
}

async function main(): Promise<void> {
  const config = settings();
  const log = newLogger(config.logLevel);
  for (const advice of settingWarnings()) log.warn(advice);
  if (config.databaseUrl === undefined) keepKeysPrivate(config.dataDir);
  await requireHost(config.host);
  requireWritable(config.dataDir);
  const tracing = await startTracing(process.env, log);
  const application = await compose(config, { log });
  // 7 s more than the drain time: what stops after requests and jobs gets 5 s, and what is left then 1 s together.
  superviseProcess({
    log,
    stop: () => application.stop({ refuseMs: REFUSE_MS }).finally(() => tracing?.stop()),
    withinMs: config.drainMs + 7_000,
  });
  const { store, trust } = application.services;
  const about = { ...application.addresses, dataDir: config.dataDir, store: store.name };
  if (trust.doubt) log.warn(about, 'Castellan has started and writes nothing: its event log is in doubt');
  else log.info(about, 'Castellan is ready');
}

main().catch((error: unknown) => end(error, isLasting(error) ? USAGE : 1));
