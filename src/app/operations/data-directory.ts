import { accessSync, constants, mkdirSync } from 'node:fs';
import { ConfigError } from '../../platform/config-error.ts';

/** Checked before the database is used: certificates, seals and objects are written to it later. */
export function requireWritable(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true });
    accessSync(dataDir, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new ConfigError(
      `DATA_DIR: ${dataDir} cannot be written (${(error as NodeJS.ErrnoException).code}). Set DATA_DIR to a directory that this user can write to.`,
    );
  }
}
