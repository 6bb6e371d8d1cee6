import { spawnSync, type SpawnOptions } from 'node:child_process';
import type { OsAccount } from './os-account.ts';

/** What `spawn` needs to run a program of PostgreSQL as its account. */
export interface Launch {
  readonly file: string;
  readonly args: readonly string[];
  readonly options: Pick<SpawnOptions, 'uid' | 'gid' | 'cwd'>;
}

/**
 * A capability by which the account may pass folders that are closed to it, root's home for one.
 * `read_search` reads and traverses only; containers that withhold it mostly grant `override`.
 */
export type TraversalCapability = 'none' | 'dac_read_search' | 'dac_override';

export interface LaunchContext {
  readonly account: OsAccount | undefined;
  readonly passage: TraversalCapability;
  /** End the program when this process dies, even by SIGKILL. */
  readonly bound?: boolean;
}

let setprivKnown: boolean | undefined;

/** util-linux's `setpriv` is on practically every Linux; without it an orphan is found and ended at the next start. */
export function hasSetpriv(): boolean {
  setprivKnown ??=
    process.platform === 'linux' &&
    String(spawnSync('setpriv', ['--help'], { encoding: 'utf8' }).stdout).includes('--pdeathsig');
  return setprivKnown;
}

export function launch(program: string, args: readonly string[], context: LaunchContext): Launch {
  const { account } = context;
  // PostgreSQL must be able to enter the folder that it is started from.
  if (!hasSetpriv()) return { file: program, args, options: { ...account, cwd: '/' } };
  const options = [
    ...asAccount(account),
    ...withPassage(context.passage),
    ...(context.bound ? ['--pdeathsig', 'INT'] : []),
  ];
  return { file: 'setpriv', args: [...options, '--', program, ...args], options: { cwd: '/' } };
}

const asAccount = (account: OsAccount | undefined): string[] =>
  account ? ['--reuid', String(account.uid), '--regid', String(account.gid), '--clear-groups'] : [];

/**
 * An ambient capability survives `exec` by a user who is not root. PostgreSQL looks for its own files with access(2), which
 * ignores capabilities of such a user unless the securebit `no_setuid_fixup` is set (capabilities(7)).
 */
const withPassage = (passage: TraversalCapability): string[] =>
  passage === 'none'
    ? []
    : ['--inh-caps', `+${passage}`, '--ambient-caps', `+${passage}`, '--securebits', '+no_setuid_fixup'];
