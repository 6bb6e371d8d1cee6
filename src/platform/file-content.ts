import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { Unseen } from './is-found.ts';

/** Something else is where a file must be. Reading from it might never end. */
export class NotAFile extends Error {
  readonly path: string;
  readonly kind: string;

  constructor(path: string, kind: string) {
    super(`${path} is ${kind}, where a file must be: put the file in its place`);
    this.name = 'NotAFile';
    this.path = path;
    this.kind = kind;
  }
}

/** What whoever started this program has opened for it, as `<(…)` of a shell does: somebody writes to its other end. */
const PASSED = /^\/(?:dev\/stdin|(?:dev|proc\/self)\/fd\/\d+)$/;
const NO_RIGHT: ReadonlySet<unknown> = new Set(['EACCES', 'EPERM', 'ELOOP']);

/**
 * All of a file that somebody else may have put there. Throws `NotAFile` for what is none, instead of waiting for a named
 * pipe or reading a device without end, and `Unseen` for what this user may not read. Links are followed: secrets are mounted
 * as such.
 */
export function fileContent(path: string): Buffer {
  if (PASSED.test(path)) return readFileSync(path);
  const descriptor = opened(path);
  try {
    const kind = otherKind(fstatSync(descriptor));
    if (kind !== undefined) throw new NotAFile(path, kind);
    return readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

export const fileText = (path: string): string => fileContent(path).toString('utf8');

/** For a sentence that names the file itself: an error code, or what is in its place. */
export const whyUnread = (error: unknown): string =>
  error instanceof NotAFile ? `it is ${error.kind}` : String((error as NodeJS.ErrnoException).code);

/** Without `O_NONBLOCK`, to open a named pipe means to wait for somebody who writes to it. */
function opened(path: string): number {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENXIO') throw new NotAFile(path, 'a socket');
    if (NO_RIGHT.has(code)) throw new Unseen(path, code!);
    throw error;
  }
}

function otherKind(found: Stats): string | undefined {
  if (found.isFile()) return undefined;
  if (found.isDirectory()) return 'a folder';
  return found.isFIFO() ? 'a named pipe' : 'a device';
}
