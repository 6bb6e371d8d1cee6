import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive } from './ownership.ts';

const FAST_SHUTDOWN_MS = 15_000;
const IMMEDIATE_SHUTDOWN_MS = 5_000;

/** The process that `postmaster.pid` names, if it lives and is the server of this very cluster. */
export function livingPostmaster(cluster: string): number | undefined {
  const pid = recordedPid(cluster);
  return pid !== undefined && isAlive(pid) && serves(pid, cluster) ? pid : undefined;
}

/**
 * Clears what a crash left behind, for the process that owns the data directory: whoever serves the cluster now is an orphan
 * and is shut down; a process id that has since been given to a stranger must not keep the cluster closed.
 */
export async function clearLeftover(cluster: string, log: (line: string) => void): Promise<void> {
  const orphan = livingPostmaster(cluster);
  if (orphan !== undefined) {
    log(`an earlier PostgreSQL (process ${orphan}) still serves this data directory: shutting it down`);
    await shutDown(orphan);
  }
  const pid = recordedPid(cluster);
  if (pid !== undefined && isAlive(pid)) disown(cluster);
}

/**
 * The folder is private to the cluster, and whoever served it has been cleared: a socket there is nobody's, even while the
 * one who was killed still stands in the process table.
 */
export function clearSocket(folder: string): void {
  for (const name of readdirSync(folder))
    if (name.startsWith('.s.PGSQL.')) rmSync(path.join(folder, name), { force: true });
}

async function shutDown(pid: number): Promise<void> {
  if (await ends(pid, 'SIGINT', FAST_SHUTDOWN_MS)) return;
  if (await ends(pid, 'SIGQUIT', IMMEDIATE_SHUTDOWN_MS)) return;
  throw new Error(`an earlier PostgreSQL (process ${pid}) does not shut down`);
}

async function ends(pid: number, signal: NodeJS.Signals, withinMs: number): Promise<boolean> {
  try {
    process.kill(pid, signal);
  } catch {
    return !isAlive(pid);
  }
  for (const deadline = Date.now() + withinMs; isAlive(pid); await sleep(10)) {
    if (Date.now() > deadline) return false;
  }
  return true;
}

const pidFile = (cluster: string): string => path.join(cluster, 'postmaster.pid');

function recordedPid(cluster: string): number | undefined {
  try {
    const pid = Number(readFileSync(pidFile(cluster), 'utf8').split('\n')[0]);
    return Number.isInteger(pid) && pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the server says of itself, in its pid file, that it takes connections. */
export function announcesReady(cluster: string, pid: number): boolean {
  try {
    const lines = readFileSync(pidFile(cluster), 'utf8').split('\n');
    return Number(lines[0]) === pid && lines[7]?.trim() === 'ready';
  } catch {
    return false;
  }
}

/**
 * Puts our own process id in the stranger's place. PostgreSQL takes a pid file that names its parent as stale, and still looks
 * by the shared memory key in it for surviving backends, which removing the file would forgo.
 */
function disown(cluster: string): void {
  const [, ...rest] = readFileSync(pidFile(cluster), 'utf8').split('\n');
  writeFileSync(pidFile(cluster), [process.pid, ...rest].join('\n'));
}

function serves(pid: number, cluster: string): boolean {
  if (process.platform !== 'linux') {
    return spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout.includes(
      `-D ${cluster} `,
    );
  }
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(cluster);
  } catch {
    return false; // it has ended meanwhile
  }
}
