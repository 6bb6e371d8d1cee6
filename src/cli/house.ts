import { join } from 'node:path';
import { compose, type House } from '../compose.ts';
import { newLogger } from '../logger.ts';
import { readConfig } from '../config.ts';
import { findEmbeddedPostgres } from '../embedded/postgres.ts';
import { FailureError } from '../kernel/failure.ts';

export type WithHouse = <T>(work: (house: House) => Promise<T>) => Promise<T>;

/**
 * Runs a command with the whole house at hand, its doors shut. Beside a running service it connects to the service's own
 * database and leaves projecting to it; otherwise it starts what it needs and projects itself.
 */
export const withHouse: WithHouse = async (work) => {
  const config = readConfig(process.env);
  const log = newLogger(process.env['LOG_LEVEL'] ?? 'warn');
  const running = config.databaseUrl ? undefined : findEmbeddedPostgres(join(config.dataDir, 'postgres'));
  const house = await compose(config, {
    log,
    listen: false,
    ...(running ? { database: { ...running }, project: false } : {}),
  });
  try {
    return await work(house);
  } finally {
    await house.stop();
  }
};

/** A refusal in its own words; anything else with its stack, for the operator is also the one who reports it. */
export const wordsFor = (error: unknown): string =>
  error instanceof FailureError ? error.message : ((error as Error).stack ?? String(error));
