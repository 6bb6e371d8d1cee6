import { join } from 'node:path';
import { compose, type Application } from '../compose/compose.ts';
import { commandLogger } from './command-log.ts';
import { sayingDoubt } from './log-in-doubt.ts';
import { dataDirectory, readConfig } from '../config/config.ts';
import { fileSetting } from '../config/given-settings.ts';
import { EMBEDDED_DATABASE } from '../config/key-files.ts';
import { Obstacle } from './outcome.ts';
import { findEmbeddedPostgres, hasCluster } from '../../platform/embedded/postgres.ts';

/**
 * What a command does to the installation. One that looks writes nothing: no read models, reactions, jobs and seals, and
 * no doubt of the log. What it looks at may be in the middle of a recovery.
 */
export type CommandEffect = 'looks' | 'changes';

export type WithApplication = <T>(work: (application: Application) => Promise<T>, effect: CommandEffect) => Promise<T>;

/**
 * Runs a command with the application, without listeners. Beside a running service, it connects to the service's embedded
 * database and leaves projections to the service. Otherwise it starts what it needs, and projects itself if it changes
 * anything.
 */
export const applicationIn =
  (env: NodeJS.ProcessEnv): WithApplication =>
  async (work, effect) => {
    if (effect === 'looks') refuseNothing(env);
    const config = readConfig(env);
    const log = commandLogger(env);
    const running = config.databaseUrl ? undefined : findEmbeddedPostgres(join(config.dataDir, EMBEDDED_DATABASE));
    const application = await compose(config, {
      log,
      listen: false,
      onlyLooks: effect === 'looks',
      ...(running ? { database: { ...running }, project: false } : {}),
    });
    try {
      return await sayingDoubt(application.services.trust, () => work(application));
    } finally {
      await application.stop();
    }
  };

/** A command that only looks must not make an installation in a folder that was named by mistake, and find it in order. */
function refuseNothing(env: NodeJS.ProcessEnv): void {
  if (env['DATABASE_URL'] || env[fileSetting('DATABASE_URL')]) return;
  const dataDir = dataDirectory(env);
  if (!hasCluster(join(dataDir, EMBEDDED_DATABASE)))
    throw new Obstacle(
      `there is no installation in ${dataDir}: set DATA_DIR or DATABASE_URL, or start the service once`,
    );
}
