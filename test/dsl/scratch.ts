import { mkdtempSync, readFileSync, statfsSync } from 'node:fs';
import path from 'node:path';

const MEMORY = '/dev/shm';
const ENOUGH_BYTES = 1024 ** 3;

/** Programs may lie beside the data (`src/platform/embedded/account-access.ts`), so they must be allowed to run. */
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
 * A new folder for what a test throws away, in memory where there is room. A PostgreSQL cluster is a thousand files and so is every database
 * in it: to make and remove them on disk takes longer than many of the tests.
 */
export const scratchFolder = (name: string): string =>
  mkdtempSync(path.join(serves(MEMORY) ? MEMORY : '/tmp', `castellan-${name}-`));
