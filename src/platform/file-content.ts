import { closeSync, constants, fstatSync, openSync, readFileSync, readSync, type Stats } from 'node:fs';
import { leadsNowhere, Unseen } from './is-found.ts';

/** Something else is where a file must be. Reading from it might never end. */
export class NotAFile extends Error {
  readonly path: string;
  readonly kind: string;

  constructor(path: string, kind: string, expected = 'a file') {
    super(`${path} is ${kind}, where ${expected} must be: put the file in its place`);
    this.name = 'NotAFile';
    this.path = path;
    this.kind = kind;
  }
}

/** What whoever started this program has opened for it, as `<(…)` of a shell does: somebody writes to its other end. */
const PASSED = /^\/(?:dev\/stdin|(?:dev|proc\/self)\/fd\/\d+)$/;
const NO_RIGHT: ReadonlySet<unknown> = new Set(['EACCES', 'EPERM', 'ELOOP']);

const MIB = 1024 ** 2;
/** No key, secret or certificate has as much, nor a bundle of authorities. */
const KEY_BYTES = 4 * MIB;
const CHUNK_BYTES = 65_536;

/**
 * All of a file that somebody else may have put there. Throws `NotAFile` for what is none, instead of waiting for a named
 * pipe or reading a device without end, and for one above `mostBytes`; and `Unseen` for what this user may not read. Links
 * are followed: secrets are mounted as such.
 */
export function fileContent(path: string, mostBytes = KEY_BYTES): Buffer {
  const isPassed = PASSED.test(path);
  const descriptor = isPassed ? openSync(path, constants.O_RDONLY) : opened(path);
  try {
    if (isPassed) return passedContent(path, descriptor, mostBytes);
    const found = fstatSync(descriptor);
    const kind = otherKind(found);
    if (kind !== undefined) throw new NotAFile(path, kind);
    if (found.size > mostBytes) throw tooLarge(path, mostBytes);
    return readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

export const fileText = (path: string, mostBytes?: number): string => fileContent(path, mostBytes).toString('utf8');

/** Whoever writes to a pipe may never end. */
function passedContent(path: string, descriptor: number, mostBytes: number): Buffer {
  const chunks: Buffer[] = [];
  for (let size = 0; ;) {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    const read = readSync(descriptor, chunk);
    if (read === 0) return Buffer.concat(chunks, size);
    size += read;
    if (size > mostBytes) throw tooLarge(path, mostBytes);
    chunks.push(chunk.subarray(0, read));
  }
}

const tooLarge = (path: string, mostBytes: number): NotAFile =>
  new NotAFile(path, `larger than ${mostBytes / MIB} MiB`, 'a smaller file');

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
    if (code === 'ENOENT' && leadsNowhere(path)) throw new NotAFile(path, 'a link to nothing');
    throw error;
  }
}

function otherKind(found: Stats): string | undefined {
  if (found.isFile()) return undefined;
  if (found.isDirectory()) return 'a folder';
  return found.isFIFO() ? 'a named pipe' : 'a device';
}
