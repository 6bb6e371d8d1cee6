import { join } from 'node:path';
import { compose, type Application } from '../compose/compose.ts';
import { newLogger } from '../../platform/observability/logger.ts';
import { readConfig } from '../config/config.ts';
import { findEmbeddedPostgres } from '../../platform/embedded/postgres.ts';
import { EventStoreUnavailable } from '../../platform/eventstore/port.ts';
import { FailureError } from '../../platform/kernel/failure.ts';

export type WithApplication = <T>(work: (application: Application) => Promise<T>) => Promise<T>;

/**
 * Runs a command with the whole house at hand, its doors shut. Beside a running service it connects to the service's own
 * database and leaves projecting to it; otherwise it starts what it needs and projects itself.
 */
export const withApplication: WithApplication = async (work) => {
  const config = readConfig(process.env);
  const log = newLogger(process.env['LOG_LEVEL'] ?? 'warn');
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

/** A refusal or an outage in a sentence; anything else with its stack, for the operator is also the one who reports it. */
export const describeError = (error: unknown): string =>
  error instanceof FailureError
    ? error.message
    : error instanceof EventStoreUnavailable
      ? outage(error)
      : ((error as Error).stack ?? String(error));

/** With what the server said: a position that it cannot serve looks like an outage otherwise. */
const outage = ({ message, cause }: EventStoreUnavailable): string =>
  cause instanceof Error && !message.includes(cause.message) ? `${message} (${cause.message})` : message;
