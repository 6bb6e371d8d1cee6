import { mkdtempSync, readFileSync, statfsSync } from 'node:fs';
import path from 'node:path';

const MEMORY = '/dev/shm';
const ENOUGH_BYTES = 1024 ** 3;

/** Programs may be next to the data (`src/platform/embedded/account-access.ts`), so execution must be allowed. */
function serves(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    const mounted = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .map((line) => line.split(' '))
      .findLast(([, at]) => at === folder);
    return bavail * bsize > ENOUGH_BYTES && mounted !== undefined && !mounted[3]!.split(',').includes('noexec');
  } catch {
    return false;
  }
}

/**
 * A new folder for temporary test data, in memory if there is room. A PostgreSQL cluster is a thousand files and so is
 * every database in it: creating and removing them on disk takes longer than many of the tests.
 */
export const scratchFolder = (name: string): string =>
  mkdtempSync(path.join(serves(MEMORY) ? MEMORY : '/tmp', `castellan-${name}-`));
