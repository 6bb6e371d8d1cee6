import { afterAll, afterEach, beforeEach } from 'vitest';
import { Installation, type InstallationOptions } from './installation.ts';

const START_MS = 120_000;

/**
 * One installation for the faults of a file, because starting four processes takes longer than most faults. A fault
 * that it did not survive ends it: the next one gets a new installation, on another database.
 */
export function sharedInstallation(
  options: () => Promise<InstallationOptions> | InstallationOptions,
): () => Installation {
  let current: Installation | undefined;
  const stop = async () => {
    await current?.stop();
    current = undefined;
  };
  beforeEach(async () => {
    current ??= await Installation.start(await options());
  }, START_MS);
  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail') await stop();
  }, START_MS);
  afterAll(stop, START_MS);
  return () => current!;
}
