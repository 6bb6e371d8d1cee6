import { parseArgs } from 'node:util';
import { compose } from './app/compose/compose.ts';
import { startTracing } from './platform/observability/start-tracing.ts';
import { newLogger } from './platform/observability/logger.ts';
import { ConfigError } from './platform/config-error.ts';
import { readConfig, settingWarnings } from './app/config/config.ts';
import type { ProcessRole } from './platform/database/connections.ts';
import { requireWritable } from './app/operations/data-directory.ts';
import { describeStartError } from './app/operations/start-error.ts';
import { superviseProcess } from './app/operations/process-lifecycle.ts';

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
  requireWritable(config.dataDir);
  const tracing = await startTracing(process.env, log);
  const application = await compose(config, { log });
  // 3 s more than the drain time: parts that are still running at its end get 1 s together to stop.
  superviseProcess({
    log,
    stop: () => application.stop().finally(() => tracing?.stop()),
    withinMs: config.drainMs + 3_000,
  });
  log.info(
    { ...application.addresses, dataDir: config.dataDir, store: application.services.store.name },
    'Castellan is ready',
  );
}

main().catch((error: unknown) => {
  process.stderr.write(`castellan: ${describeStartError(error)}\n`);
  process.exit(1);
});
