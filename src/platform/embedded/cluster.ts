import { spawnSync } from 'node:child_process';
import { chownSync, closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { OsAccount } from './os-account.ts';
import { EmbeddedPostgresFailed } from './failed.ts';
import { launch } from './launcher.ts';
import type { AccountAccess } from './account-access.ts';
import { isFound } from '../is-found.ts';

/**
 * Creates the cluster if there is none. It is created under another name and renamed when complete, so that an
 * interrupted start leaves nothing that looks like a cluster.
 */
export function ensureCluster(cluster: string, account: OsAccount | undefined, reach: AccountAccess): void {
  if (isFound(cluster)) return;
  const partial = `${cluster}.partial`;
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { mode: 0o700 });
  if (account) chownSync(partial, account.uid, account.gid);
  initialize(partial, account, reach);
  renameSync(partial, cluster);
  syncFolder(path.dirname(cluster));
}

function initialize(folder: string, account: OsAccount | undefined, reach: AccountAccess): void {
  // The builtin locale sorts the same on every system, so a copied data directory never has a broken index.
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  // Trust authentication: the mode of the folder restricts who can open the socket.
  const args = ['-D', folder, '-U', 'postgres', '--auth=trust', '--no-instructions', ...locale];
  const {
    file,
    args: full,
    options,
  } = launch(reach.binaries.initdb, args, { account, passage: reach.passage, bound: true });
  const result = spawnSync(file, full, { ...options, encoding: 'utf8' });
  if (result.status === 0) return;
  throw new EmbeddedPostgresFailed(
    `could not create its cluster in ${folder}: ${result.error?.message ?? reasonIn(result.stderr)}`,
  );
}

/** The lines in which initdb and the server that it starts say what is wrong; without any, its last ones. */
function reasonIn(output: string): string {
  const lines = output.trim().split('\n');
  const reasons = lines.filter((line) => /(?:FATAL|PANIC|error): /i.test(line) || / could not /.test(line));
  return (reasons.length > 0 ? reasons : lines).slice(-3).join('; ');
}

/** The rename must survive a power failure before any write to the cluster is acknowledged. */
function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}
