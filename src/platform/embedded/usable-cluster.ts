import { statSync } from 'node:fs';
import path from 'node:path';
import { fileText, NotAFile } from '../file-content.ts';
import { isFound, leadsNowhere, Unseen } from '../is-found.ts';
import { mayWrite, mayWriteIn } from '../may-write.ts';
import { UnusableCluster } from './failed.ts';

const ROOT = 0;

export const clusterIn = (dataDir: string): string => path.join(dataDir, 'cluster');
export const lockIn = (dataDir: string): string => path.join(dataDir, 'owner.lock');

/**
 * Throws `UnusableCluster` for a folder that this user, or the PostgreSQL that is installed, cannot use, as after a restore by
 * root or of a part. Nothing is wrong with one that is not there yet. Changes nothing.
 */
export function requireUsableCluster(dataDir: string, installed: string): void {
  if (leadsNowhere(dataDir)) throw new UnusableCluster(`cannot use ${dataDir}, which is a link to nothing: ${RESTORE}`);
  if (!isFound(dataDir)) return;
  if (!statSync(dataDir).isDirectory())
    throw new UnusableCluster(`cannot use ${dataDir}, which is no folder: ${RESTORE}`);
  const [lock, cluster] = [lockIn(dataDir), clusterIn(dataDir)];
  const foreign = !mayWriteIn(dataDir) ? dataDir : isFound(lock) && !mayWrite(lock) ? lock : ofSomebodyElse(cluster);
  if (foreign !== undefined)
    throw new UnusableCluster(
      `cannot use ${foreign}, which this user may not change: use the user of the service, or give it ${dataDir} (chown -R)`,
    );
  if (isFound(cluster)) requireVersion(cluster, installed);
}

const RESTORE = 'restore the folder from a backup';

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
