import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileText } from '../file-content.ts';
import { EmbeddedPostgresFailed } from './failed.ts';
import { isAlive } from './ownership.ts';

const FAST_SHUTDOWN_MS = 15_000;
const IMMEDIATE_SHUTDOWN_MS = 5_000;

/** The process that `postmaster.pid` names, if it is alive and serves this cluster. */
export function livingPostmaster(cluster: string): number | undefined {
  const pid = recordedPid(cluster);
  return pid !== undefined && isAlive(pid) && serves(pid, cluster) ? pid : undefined;
}

/**
 * Cleans up after a crash; call it as the owner of the data directory. A process that still serves the cluster is an
 * orphan and is shut down. A process id that now belongs to an unrelated process must not keep the cluster closed.
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
 * The folder is private to the cluster, and any earlier server has ended. So a socket there is stale, even while a
 * killed server is still in the process table.
 */
export function clearSocket(folder: string): void {
  for (const name of readdirSync(folder))
    if (name.startsWith('.s.PGSQL.')) rmSync(path.join(folder, name), { force: true });
}

async function shutDown(pid: number): Promise<void> {
  if (await ends(pid, 'SIGINT', FAST_SHUTDOWN_MS)) return;
  if (await ends(pid, 'SIGQUIT', IMMEDIATE_SHUTDOWN_MS)) return;
  throw new EmbeddedPostgresFailed(
    `cannot start: an earlier one (process ${pid}) does not shut down; end that process`,
  );
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
    const pid = Number(fileText(pidFile(cluster)).split('\n')[0]);
    return Number.isInteger(pid) && pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the server's pid file reports that it accepts connections. */
export function announcesReady(cluster: string, pid: number): boolean {
  try {
    const lines = fileText(pidFile(cluster)).split('\n');
    return Number(lines[0]) === pid && lines[7]?.trim() === 'ready';
  } catch {
    return false;
  }
}

/**
 * Writes our own process id in place of the unrelated one. PostgreSQL treats a pid file that names its parent as
 * stale. Through the shared memory key in it, it still detects surviving backends; deleting the file would prevent
 * that.
 */
function disown(cluster: string): void {
  const [, ...rest] = fileText(pidFile(cluster)).split('\n');
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
