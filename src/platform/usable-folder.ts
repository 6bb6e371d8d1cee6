import { statSync } from 'node:fs';
import { ConfigError } from './config-error.ts';
import { isFound, leadsNowhere } from './is-found.ts';
import { mayWriteIn } from './may-write.ts';

/** Something is wrong with a folder in DATA_DIR that stays so until a person corrects it. */
export class UnusableFolder extends ConfigError {
  constructor(message: string) {
    super(message);
    this.name = 'UnusableFolder';
  }
}

/**
 * What is in the place of a folder, if it is none. Undefined for a folder, a link to one, and nothing at all: the service
 * creates it.
 */
export function noFolder(path: string): 'a link to nothing' | 'no folder' | undefined {
  if (leadsNowhere(path)) return 'a link to nothing';
  return !isFound(path) || statSync(path).isDirectory() ? undefined : 'no folder';
}

/** Throws `UnusableFolder` if the service could neither create the folder nor write to it. Changes nothing. */
export function requireUsableFolder(path: string): void {
  const kind = noFolder(path);
  if (kind !== undefined)
    throw new UnusableFolder(
      `${path} is ${kind}, where a folder must be: put the folder in its place, or remove it, and an empty one is created`,
    );
  if (isFound(path) && !mayWriteIn(path))
    throw new UnusableFolder(
      `${path} is a folder in which this user may not write: use the user of the service, or give it to this one (chown -R)`,
    );
}
