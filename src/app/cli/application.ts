import { join } from 'node:path';
import { compose, type Application } from '../compose/compose.ts';
import { commandLogger } from './command-log.ts';
import { readConfig } from '../config/config.ts';
import { findEmbeddedPostgres } from '../../platform/embedded/postgres.ts';
import { isDatabaseUnavailable } from '../../platform/database/unavailable.ts';
import { EventStoreUnavailable } from '../../platform/eventstore/port.ts';
import { FailureError } from '../../platform/kernel/failure.ts';

export type WithApplication = <T>(work: (application: Application) => Promise<T>) => Promise<T>;

/**
 * Runs a command with the application, without listeners. Beside a running service, it connects to the service's embedded
 * database and leaves projections to the service. Otherwise it starts what it needs and projects itself.
 */
export const withApplication: WithApplication = async (work) => {
  const config = readConfig(process.env);
  const log = commandLogger();
  const running = config.databaseUrl ? undefined : findEmbeddedPostgres(join(config.dataDir, 'postgres'));
  const application = await compose(config, {
    log,
    listen: false,
    ...(running ? { database: { ...running }, project: false } : {}),
  });
  try {
    return await work(application);
  } finally {
    await application.stop();
  }
};

/** One sentence for a refusal or an outage. Any other error with its stack, so that the operator can report it. */
export function describeError(error: unknown): string {
  if (error instanceof FailureError) return error.message;
  if (error instanceof EventStoreUnavailable) return outage(error);
  if (isDatabaseUnavailable(error)) return `the database cannot be reached (${(error as Error).message})`;
  return (error as Error).stack ?? String(error);
}

/** Includes the server's message, so that a position it cannot serve is not mistaken for an outage. */
const outage = ({ message, cause }: EventStoreUnavailable): string =>
  cause instanceof Error && !message.includes(cause.message) ? `${message} (${cause.message})` : message;
