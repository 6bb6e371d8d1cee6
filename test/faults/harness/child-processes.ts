import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** This much of a process's output is kept. */
const SHOWN_CHARACTERS = 2_000;

/** A process that a test started, with the end of what it printed. */
export interface Tracked {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly output: () => string;
  /** Resolves once it has ended. */
  readonly ended: Promise<void>;
  /** How it ended, or undefined while it runs. */
  readonly exit: () => string | undefined;
}

const running = new Set<ChildProcess>();

// A frozen process does not receive SIGTERM: this file's processes must not outlive it, in whatever state.
process.on('exit', () => {
  for (const child of running) {
    child.kill('SIGCONT');
    child.kill('SIGKILL');
  }
});

interface How {
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Run as this user and group. */
  readonly as?: { readonly uid: number; readonly gid: number } | undefined;
  /** The kernel sends it when the test process dies without its exit handler. */
  readonly deathSignal?: 'KILL' | 'INT' | 'QUIT';
}

/** Starts a process that ends with the test process at the latest. */
export function startTracked(
  program: string,
  args: readonly string[],
  { env = process.env, cwd, as, deathSignal = 'KILL' }: How = {},
): Tracked {
  const identity = as ? ['--reuid', String(as.uid), '--regid', String(as.gid), '--clear-groups'] : [];
  const child = spawn('setpriv', [...identity, '--pdeathsig', deathSignal, '--', program, ...args], {
    env,
    ...(cwd ? { cwd } : {}),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(-SHOWN_CHARACTERS)));
  const ended = new Promise<void>((resolve) => {
    child.once('error', () => resolve());
    child.once('exit', () => resolve());
  }).then(() => void running.delete(child));
  return {
    child,
    pid: child.pid!,
    output: () => output,
    ended,
    exit: () =>
      child.exitCode === null && child.signalCode === null ? undefined : String(child.signalCode ?? child.exitCode),
  };
}

export async function endTracked(tracked: Tracked, signal: NodeJS.Signals, withinMs = 10_000): Promise<void> {
  tracked.child.kill(signal);
  tracked.child.kill('SIGCONT');
  const timer = setTimeout(() => tracked.child.kill('SIGKILL'), withinMs);
  await tracked.ended;
  clearTimeout(timer);
}

/** Processes that this one forked. */
export function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** Sends a signal to a process that may have ended meanwhile. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
