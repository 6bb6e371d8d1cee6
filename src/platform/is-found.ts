import { statSync } from 'node:fs';

/** This user may not see whether a file is there. Carries `code`, `syscall` and `path`, as errors of the file system do. */
export class Unseen extends Error {
  readonly code: string;
  readonly syscall = 'stat';
  readonly path: string;

  constructor(path: string, code: string) {
    super(`${path} cannot be looked at (${code}): use the user of the service, or give this one the right`);
    this.name = 'Unseen';
    this.code = code;
    this.path = path;
  }
}

/** Below a file, or a name that no file can have. */
const NOWHERE: ReadonlySet<string> = new Set(['ENOTDIR', 'ENAMETOOLONG']);

/**
 * Whether a file or folder is there. Throws `Unseen` if that cannot be told: `existsSync` would say that it is not, and keys
 * or sealed heads that are only unreadable would be called lost, or made anew.
 */
export function isFound(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    const code = String((error as NodeJS.ErrnoException).code);
    if (NOWHERE.has(code)) return false;
    throw new Unseen(path, code);
  }
}
