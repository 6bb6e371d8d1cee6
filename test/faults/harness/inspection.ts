import { compose, type Application } from '../../../src/app/compose/compose.ts';
import { readConfig } from '../../../src/app/config/config.ts';
import { newLogger } from '../../../src/platform/observability/logger.ts';
import type { Installation } from './installation.ts';

/** Inspects an installation as an operator's command does: past the proxy, without projecting or listening. */
export async function inspect<T>(
  { cluster, database, env }: Installation,
  look: (services: Application['services']) => Promise<T>,
): Promise<T> {
  const { REDIS_URL: _redis, ...rest } = env;

  const config = readConfig({ ...rest, DATABASE_URL: cluster.url(database), LOG_LEVEL: 'silent' });
  const application = await compose(config, { listen: false, project: false, log: newLogger('silent') });
  try {
    return await look(application.services);
  } finally {
    await application.stop();
  }
}
