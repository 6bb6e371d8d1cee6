import { accessSync, constants, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { ConfigError } from '../../platform/config-error.ts';

/**
 * Creates the directory, in DATA_DIR or DATA_DIR itself, and checks that this user can write to it. Throws `ConfigError`
 * for whatever the file system says. Checked before the database is used: certificates, seals and objects are written
 * to it later.
 */
export function requireWritable(directory: string, mode?: number): void {
  try {
    make(directory, mode);
    accessSync(directory, constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason = code === 'ENOTDIR' ? 'it is a file, or lies below one' : String(code);
    throw new ConfigError(
      `DATA_DIR: ${directory} cannot be written (${reason}). Set DATA_DIR to a directory that this user can write to.`,
    );
  }
}

/**
 * One directory at a time, from the top: `mkdir` with `recursive` never returns where a file system refuses names, as
 * /proc does.
 */
function make(directory: string, mode: number | undefined): void {
  const found = statSync(directory, { throwIfNoEntry: false });
  if (found?.isDirectory()) return;
  if (found) throw Object.assign(new Error('not a directory'), { code: 'ENOTDIR' });
  const parent = dirname(directory);
  if (parent !== directory) make(parent, undefined);
  try {
    mkdirSync(directory, mode);
  } catch (error) {
    // Another process has created it in between.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
