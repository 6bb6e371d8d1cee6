import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { installedVersion } from '../../src/platform/embedded/binaries.ts';

const SOMEBODY = 65_534;

const FOLDERS = [
  'base',
  'global',
  'pg_commit_ts',
  'pg_logical/mappings',
  'pg_logical/snapshots',
  'pg_multixact',
  'pg_notify',
  'pg_replslot',
  'pg_subtrans',
  'pg_twophase',
  'pg_wal',
  'pg_xact',
];

/**
 * What looks like a cluster that was stopped, and is none. Made by root, it belongs to somebody else, as PostgreSQL does not run
 * as root, and the group of root may read it.
 */
export function imitateCluster(folder: string): void {
  for (const name of FOLDERS) mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, 'PG_VERSION'), installedVersion()!.split('.')[0]!);
  for (const name of ['global/pg_control', 'postgresql.conf', 'pg_hba.conf']) writeFileSync(join(folder, name), '');
  chmodSync(folder, 0o750);
  if (process.getuid?.() === 0) chownSync(folder, SOMEBODY, 0);
}
