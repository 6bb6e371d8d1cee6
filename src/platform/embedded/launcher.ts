import { spawnSync, type SpawnOptions } from 'node:child_process';
import type { OsAccount } from './os-account.ts';

/** The arguments for `spawn` to run a PostgreSQL program under its account. */
export interface Launch {
  readonly file: string;
  readonly args: readonly string[];
  readonly options: Pick<SpawnOptions, 'uid' | 'gid' | 'cwd'>;
}

/**
 * A capability with which the account can pass directories that are closed to it, for example root's home.
 * `dac_read_search` only reads and traverses; containers without it usually grant `dac_override`.
 */
export type TraversalCapability = 'none' | 'dac_read_search' | 'dac_override';

export interface LaunchContext {
  readonly account: OsAccount | undefined;
  readonly passage: TraversalCapability;
  /** End the program when this process dies, even by SIGKILL. */
  readonly bound?: boolean;
}

let setprivKnown: boolean | undefined;

/**
 * util-linux's `setpriv` exists on practically every Linux. Without it, an orphan is found and ended at the next
 * start.
 */
export function hasSetpriv(): boolean {
  setprivKnown ??=
    process.platform === 'linux' &&
    String(spawnSync('setpriv', ['--help'], { encoding: 'utf8' }).stdout).includes('--pdeathsig');
  return setprivKnown;
}

export function launch(program: string, args: readonly string[], context: LaunchContext): Launch {
  const { account } = context;
  // PostgreSQL must be able to enter the directory from which it is started.
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
 * An ambient capability survives `exec` by a user other than root. PostgreSQL looks for its own files with access(2),
 * which ignores capabilities of such a user unless the securebit `no_setuid_fixup` is set (capabilities(7)).
 */
const withPassage = (passage: TraversalCapability): string[] =>
  passage === 'none'
    ? []
    : ['--inh-caps', `+${passage}`, '--ambient-caps', `+${passage}`, '--securebits', '+no_setuid_fixup'];
