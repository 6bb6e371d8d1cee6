import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from 'node:fs';
import { ConfigError } from './config-error.ts';
import { isFound, Unseen } from './is-found.ts';

const FORBIDDEN: ReadonlySet<string> = new Set(['EACCES', 'EPERM']);

/**
 * Whether a file that the service keeps is there. A link to nothing is not the same as no file: what it names may only not be
 * mounted. Throws `ConfigError` for that, and `Unseen`.
 */
export function isKept(path: string): boolean {
  if (isFound(path)) return true;
  if (!isLink(path)) return false;
  throw new ConfigError(`${path} is a link to nothing: mount or restore what it names`);
}

/**
 * The text of a file that the service keeps. Only of a file: to open a pipe would wait for a writer without end. Throws `Unseen`,
 * and `ConfigError` with `remedy`.
 */
export function readKept(path: string, remedy: string): string {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    if (!fstatSync(descriptor).isFile()) throw new ConfigError(`${path} is not a file: ${remedy}`);
    return readFileSync(descriptor, 'utf8');
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const code = String((error as NodeJS.ErrnoException).code);
    throw FORBIDDEN.has(code) ? new Unseen(path, code) : new ConfigError(`${path} cannot be read (${code}): ${remedy}`);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // Below a file, or a name that no file can have: `isFound` has said that nothing is there.
    return false;
  }
}
