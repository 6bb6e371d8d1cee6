import { accessSync, constants, lstatSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** This user may not see whether a file is there, or what is in it. Carries `code`, `syscall` and `path`, as errors of the file system do. */
export class Unseen extends Error {
  readonly code: string;
  readonly syscall = 'stat';
  readonly path: string;

  constructor(file: string, code: string) {
    const path = code === 'EACCES' ? closed(file) : file;
    super(
      code === 'ELOOP'
        ? `${path} leads into a loop of links: put the file in its place`
        : `${path} cannot be looked at (${code}): use the user of the service, or give this one the right`,
    );
    this.name = 'Unseen';
    this.code = code;
    this.path = path;
  }

  /** Rights and links stay as they are. Other errors of a file system may pass. */
  get isLasting(): boolean {
    return LASTING.has(this.code);
  }
}

const LASTING: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'ELOOP']);

/** The folder that hides a file, whether it is there or not; the file itself if this user sees it. */
function closed(file: string): string {
  const folder = dirname(file);
  if (folder === file) return file;
  try {
    accessSync(folder, constants.X_OK);
    return file;
  } catch {
    return closed(folder);
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

/** A link whose file is gone. `isFound` says that nothing is there, but somebody has put something there. */
export function leadsNowhere(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink() && !isFound(path);
  } catch (error) {
    if (error instanceof Unseen) throw error;
    return false;
  }
}
