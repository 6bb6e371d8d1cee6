import { DataDirectoryInUse } from './platform/embedded/ownership.ts';
import { parseArgs } from 'node:util';
import { compose } from './app/compose/compose.ts';
import { newLogger } from './platform/observability/logger.ts';
import { ConfigError } from './platform/config-error.ts';
import { readConfig, settingWarnings } from './app/config/config.ts';
import type { ProcessRole } from './platform/database/connections.ts';
import { EventStoreUnavailable } from './platform/eventstore/port.ts';
import { unwritablePath } from './platform/objects/storage-full.ts';
import { superviseProcess } from './app/operations/process-lifecycle.ts';
import { WrongMasterKey } from './platform/vault/keyrings.ts';

const ROLES: readonly ProcessRole[] = ['all', 'api', 'projector', 'worker'];

function askedRole(): ProcessRole {
  const { values } = parseArgs({ options: { role: { type: 'string', default: 'all' } } });
  const role = ROLES.find((known) => known === values.role);
  if (!role) throw new ConfigError(`--role must be one of ${ROLES.join(', ')}`);
  return role;
}

async function main(): Promise<void> {
  const config = readConfig(process.env, askedRole());
  const log = newLogger(config.logLevel);
  for (const advice of settingWarnings()) log.warn(advice);
  const application = await compose(config, { log });
  // 3 s more than the drain time: parts that are still running at its end get 1 s together to stop.
  superviseProcess({ log, stop: () => application.stop(), withinMs: config.drainMs + 3_000 });
  log.info(
    { ...application.addresses, dataDir: config.dataDir, store: application.services.store.name },
    'Castellan is ready',
  );
}

main().catch((error: unknown) => {
  // A wrong setting or an outage is reported in one sentence, any other error with its stack.
  const unwritable = unwritablePath(error);
  if (unwritable)
    process.stderr.write(
      `castellan: ${unwritable} cannot be written (${(error as { code: string }).code}). Set DATA_DIR to a directory that this user can write to.\n`,
    );
  else if (
    error instanceof ConfigError ||
    error instanceof WrongMasterKey ||
    error instanceof EventStoreUnavailable ||
    error instanceof DataDirectoryInUse
  )
    process.stderr.write(`castellan: ${error.message}\n`);
  else process.stderr.write(`castellan: ${(error as Error).stack ?? String(error)}\n`);
  process.exit(1);
});
