import { spawnSync } from 'node:child_process';
import { cpSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { OsAccount } from './os-account.ts';
import { binariesIn, type Binaries } from './binaries.ts';
import { UnusableCluster } from './failed.ts';
import { hasSetpriv, launch, type TraversalCapability } from './launcher.ts';
import { isFound } from '../is-found.ts';

/** How the account reaches the programs and the data: with which capability, and which copy of the programs. */
export interface AccountAccess {
  readonly passage: TraversalCapability;
  readonly binaries: Binaries;
}

const PASSAGES: readonly TraversalCapability[] = ['none', 'dac_read_search', 'dac_override'];

/**
 * Finds the least privilege with which the account can run the programs and enter the data directory. It tries each
 * one, because only the kernel knows the effect of modes, access lists, mounts and missing capabilities.
 */
export function findAccountAccess(account: OsAccount | undefined, binaries: Binaries, dataDir: string): AccountAccess {
  if (!account) return { passage: 'none', binaries };
  const passages = hasSetpriv() ? PASSAGES : (['none'] as const);
  for (const passage of passages) {
    if (runs(account, passage, binaries) && enters(account, passage, dataDir)) return { passage, binaries };
  }
  for (const passage of passages) {
    if (!enters(account, passage, dataDir)) continue;
    const copied = copyBinaries(binaries, dataDir, account);
    if (runs(account, passage, copied)) return { passage, binaries: copied };
  }
  throw new UnusableCluster(
    `may not run as root, and user ${account.uid} cannot enter ${dataDir}: ` +
      'set DATA_DIR to a folder that this user can enter, or start as an ordinary user',
  );
}

/**
 * Both programs ask access(2) about themselves and each other: some kernels run what access(2) says may not be run. initdb
 * reads its templates in share/, and the server loads its extensions from lib/. One shell for all: each program that a
 * large process starts takes longer than its work. `env`, because the shell's own `test` may judge by modes alone.
 */
const CAN_RUN = '"$1" --version && env test -x "$1" && env test -x "$2" && ls -d "$3/share/." "$3/lib/."';

const runs = (account: OsAccount, passage: TraversalCapability, { root, postgres, initdb }: Binaries): boolean =>
  succeeds('sh', ['-c', CAN_RUN, 'sh', postgres, initdb, root], account, passage);

/** The final dot requires permission to enter the directory, not just to see it. */
const enters = (account: OsAccount, passage: TraversalCapability, dataDir: string): boolean =>
  succeeds('ls', ['-d', `${dataDir}/.`], account, passage);

function succeeds(program: string, args: readonly string[], account: OsAccount, passage: TraversalCapability): boolean {
  const { file, args: full, options } = launch(program, args, { account, passage });
  return spawnSync(file, full, { ...options, stdio: 'ignore' }).status === 0;
}

/** The last resort: a copy of the programs beside the data, which the account can read and execute. */
function copyBinaries(binaries: Binaries, dataDir: string, account: OsAccount): Binaries {
  const target = path.join(dataDir, `programs-${binaries.version}`);
  const partial = `${target}.partial`;
  if (!isFound(target)) {
    rmSync(partial, { recursive: true, force: true });
    cpSync(binaries.root, partial, { recursive: true, verbatimSymlinks: true });
    spawnSync('chown', ['-R', `${account.uid}:${account.gid}`, partial]);
    renameSync(partial, target);
  }
  return binariesIn(target, binaries.version);
}
