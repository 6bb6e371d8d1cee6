import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import path from 'node:path';
import { isRoot } from './programs.ts';

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

  /** Uses all remaining space. */
  fill(): void {
    const { bavail, bsize } = statfsSync(this.folder);
    execFileSync('fallocate', ['-l', String(bavail * bsize), this.#ballast]);
  }

  free(): void {
    rmSync(this.#ballast, { force: true });
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
