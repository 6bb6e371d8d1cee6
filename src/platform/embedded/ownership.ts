import { spawnSync } from 'node:child_process';
import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { UnusableCluster } from './failed.ts';
import { lockIn } from './usable-cluster.ts';

/** Another process owns the data directory. The message names it. */
export class DataDirectoryInUse extends Error {}

/** The exclusive right of one process to a data directory, until it is released or the process ends. */
export interface Ownership {
  release(): void;
}

/**
 * Locks the data directory for this process. The lock is flock(2) on an open file, taken by a child that shares the
 * descriptor. The kernel releases it when this process dies, so there are no stale locks and no races.
 */
export function takeOwnership(dataDir: string): Ownership {
  const file = lockIn(dataDir);
  const descriptor = openLock(file);
  const owner = readOwner(file);
  if (!lock(descriptor, owner)) {
    closeSync(descriptor);
    throw new DataDirectoryInUse(
      `the data directory ${dataDir} is in use by another Castellan process${owner ? ` (process ${owner})` : ''}`,
    );
  }
  ftruncateSync(descriptor);
  writeSync(descriptor, String(process.pid));
  let held = true;
  return {
    release() {
      if (!held) return; // the number of a closed descriptor may already be reused
      held = false;
      ftruncateSync(descriptor);
      closeSync(descriptor);
    },
  };
}

function openLock(file: string): number {
  try {
    return openSync(file, 'a+', 0o600);
  } catch (error) {
    throw new UnusableCluster(
      `cannot use ${file} (${String((error as NodeJS.ErrnoException).code)}): use the user of the service, or give this one the right`,
    );
  }
}

function lock(descriptor: number, owner: number | undefined): boolean {
  const { status, error } = spawnSync('flock', ['--exclusive', '--nonblock', '3'], {
    stdio: ['ignore', 'ignore', 'ignore', descriptor],
  });
  // Without a `flock` command (macOS), the process id in the file is checked instead.
  return error ? owner === undefined || !isAlive(owner) : status === 0;
}

function readOwner(file: string): number | undefined {
  const pid = Number(readFileSync(file, 'utf8'));
  return Number.isInteger(pid) && pid > 0 ? pid : undefined;
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
