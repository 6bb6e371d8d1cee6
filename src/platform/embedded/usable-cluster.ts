import { statSync } from 'node:fs';
import path from 'node:path';
import { fileText, NotAFile } from '../file-content.ts';
import { isFound, leadsNowhere, Unseen } from '../is-found.ts';
import { mayWrite, mayWriteIn } from '../may-write.ts';
import { noFolder } from '../usable-folder.ts';
import { UnusableCluster } from './failed.ts';

const ROOT = 0;
/** Rights of others, and of the group to write. */
const FORBIDDEN = 0o027;

export const clusterIn = (dataDir: string): string => path.join(dataDir, 'cluster');
export const socketIn = (dataDir: string): string => path.join(dataDir, 'socket');
export const lockIn = (dataDir: string): string => path.join(dataDir, 'owner.lock');

/**
 * Throws `UnusableCluster` for a folder that this user, or the PostgreSQL that is installed, cannot use, as after a restore by
 * root or of a part. Nothing is wrong with one that is not there yet. Changes nothing.
 */
export function requireUsableCluster(dataDir: string, installed: string): void {
  requireFolder(dataDir, RESTORE);
  if (!isFound(dataDir)) return;
  const [lock, cluster, socket] = [lockIn(dataDir), clusterIn(dataDir), socketIn(dataDir)];
  const isSeen = mayWriteIn(dataDir);
  if (isSeen) requireKinds(lock, socket, cluster);
  const foreign = isSeen ? firstForeign(lock, socket, cluster) : dataDir;
  if (foreign !== undefined)
    throw new UnusableCluster(
      `cannot use ${foreign}, which this user may not change: use the user of the service, or give it ${dataDir} (chown -R)`,
    );
  if (!isFound(cluster)) return;
  for (const name of FILES) requireFileOrNothing(path.join(cluster, name));
  requireVersion(cluster, installed);
  requireParts(cluster);
  requirePrivate(cluster);
}

const RESTORE = 'restore the folder from a backup';

function requireKinds(lock: string, socket: string, cluster: string): void {
  requireLockFile(lock);
  requireFolder(socket, 'remove it, and a folder is created');
  requireFolder(cluster, RESTORE);
}

/** PostgreSQL would wait for a named pipe in their place without end. */
const FILES = ['postmaster.pid', 'postgresql.conf', 'postgresql.auto.conf', 'pg_hba.conf', 'pg_ident.conf'];

function requireFileOrNothing(file: string): void {
  const isElse = leadsNowhere(file) || (isFound(file) && !statSync(file).isFile());
  if (isElse) throw new UnusableCluster(`cannot use ${file}, which is no file: remove it, or ${RESTORE}`);
}

function requireFolder(path: string, remedy: string): void {
  const kind = noFolder(path);
  if (kind !== undefined) throw new UnusableCluster(`cannot use ${path}, which is ${kind}: ${remedy}`);
}

/** To open a named pipe or a folder as the lock would wait without end, or fail. */
function requireLockFile(lock: string): void {
  const kind = leadsNowhere(lock) ? 'a link to nothing' : isFound(lock) && !statSync(lock).isFile() ? 'no file' : '';
  if (kind) throw new UnusableCluster(`cannot use ${lock}, which is ${kind}: remove it, and a file is created`);
}

/** What this user may not use as the start does: it writes to the lock, and removes what is left in the folder of the socket. */
function firstForeign(lock: string, socket: string, cluster: string): string | undefined {
  if (isFound(lock) && !mayWrite(lock)) return lock;
  return isFound(socket) && !mayWriteIn(socket) ? socket : ofSomebodyElse(cluster);
}

/** PostgreSQL refuses the cluster of another user. Root starts it as the user to whom the cluster belongs. */
function ofSomebodyElse(cluster: string): string | undefined {
  const user = process.geteuid?.();
  if (user === undefined || user === ROOT || !isFound(cluster)) return undefined;
  return statSync(cluster).uid === user ? undefined : cluster;
}

function requireVersion(cluster: string, installed: string): void {
  const made = versionOf(cluster);
  const ours = installed.split('.')[0];
  if (made === ours) return;
  throw new UnusableCluster(
    `cannot use ${cluster}: it was made by PostgreSQL ${made}, and PostgreSQL ${ours} is installed: dump it with PostgreSQL ${made} and restore it into PostgreSQL ${ours}`,
  );
}

/** Without any of these no server starts, and it says so in words about itself. Backups of a part lack them. */
const PARTS = ['global/pg_control', 'postgresql.conf', 'pg_hba.conf', 'base', 'pg_multixact', 'pg_wal', 'pg_xact'];
/** Nor without these, which may be empty: some copies leave out empty folders. */
const EMPTY_PARTS = [
  'pg_commit_ts',
  'pg_logical/mappings',
  'pg_logical/snapshots',
  'pg_notify',
  'pg_replslot',
  'pg_subtrans',
  'pg_twophase',
];

function requireParts(cluster: string): void {
  requireEach(PARTS, cluster, RESTORE);
  requireEach(EMPTY_PARTS, cluster, 'create the folders for the user of the cluster (mode 700), or restore it');
}

function requireEach(parts: readonly string[], cluster: string, remedy: string): void {
  const missing = parts.filter((part) => !isFound(path.join(cluster, part)));
  if (missing.length > 0)
    throw new UnusableCluster(`cannot use ${cluster}, which lacks ${missing.join(', ')}: ${remedy}`);
}

/** PostgreSQL runs neither as root nor on files that others may read. */
function requirePrivate(cluster: string): void {
  const { uid, mode } = statSync(cluster);
  if (process.geteuid?.() === ROOT && uid === ROOT)
    throw new UnusableCluster(
      `cannot use ${cluster}, which belongs to root, and PostgreSQL may not run as root: give it to the user that it belonged to (chown -R), such as postgres or nobody`,
    );
  if ((mode & FORBIDDEN) !== 0)
    throw new UnusableCluster(
      `cannot use ${cluster}, which others may enter (mode ${(mode & 0o777).toString(8)}): set its mode to 700 (chmod)`,
    );
}

function versionOf(cluster: string): string {
  const file = path.join(cluster, 'PG_VERSION');
  let version: string;
  try {
    version = fileText(file).trim();
  } catch (error) {
    if (error instanceof NotAFile || error instanceof Unseen) throw error;
    throw new UnusableCluster(
      `cannot use ${cluster}, which lacks its file PG_VERSION (${String((error as NodeJS.ErrnoException).code)}): it is no cluster, or a part of one; ${RESTORE}`,
    );
  }
  if (/^\d+$/.test(version)) return version;
  throw new UnusableCluster(`cannot use ${cluster}: ${file} does not hold the version of PostgreSQL: ${RESTORE}`);
}
