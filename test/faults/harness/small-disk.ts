import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import path from 'node:path';
import { isRoot } from './programs.ts';

const MAX_PARTS = 100;

/** A separate file system that can be full. */
export class SmallDisk {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** In memory; throws if this process may not mount one. */
  static mount(megabytes: number): SmallDisk {
    const folder = mkdtempSync('/tmp/castellan-disk-');
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0700`, 'tmpfs', folder], { stdio: 'pipe' });
    return new SmallDisk(folder);
  }

  get #ballast(): string {
    return path.join(this.folder, 'ballast');
  }

  /** Uses all remaining space. Others write at the same time, so what was free may be so no longer. */
  fill(): void {
    mkdirSync(this.#ballast, { recursive: true });
    for (let part = 1; part <= MAX_PARTS; part += 1) {
      const { bavail, bsize } = statfsSync(this.folder);
      if (bavail === 0) return;
      spawnSync('fallocate', ['-l', String(bavail * bsize), path.join(this.#ballast, String(part))]);
    }
    throw new Error('the disk does not become full');
  }

  free(): void {
    rmSync(this.#ballast, { recursive: true, force: true });
  }

  unmount(): void {
    execFileSync('umount', ['-l', this.folder]);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Empty if a file system can be mounted, otherwise why a group is skipped. */
export const mountFault: string = canMount() ? '' : ' (skipped: no file system can be mounted here)';

function canMount(): boolean {
  if (!isRoot) return false;
  try {
    SmallDisk.mount(1).unmount();
    return true;
  } catch {
    return false;
  }
}
