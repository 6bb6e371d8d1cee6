import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, open, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { redactedOutput } from './redacted-output.ts';

export interface ProgramRun {
  /** Null if the program did not end by itself. */
  readonly exitCode: number | null;
  /** Why it counts as failed, in fixed words; null after exit code 0. */
  readonly reason: string | null;
  /** The end of standard output and error, redacted. */
  readonly output: string;
}

interface ProgramToRun {
  readonly argv: readonly [program: string, ...given: string[]];
  /** All that the program's environment has, besides the usual search path and the locale. */
  readonly environment: Readonly<Record<string, string>>;
  readonly withinMs: number;
  /** A folder of ours: working directory, and where output is collected. */
  readonly folder: string;
}

const SEARCH_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const OUTPUT_BYTES = 16 * 1024 * 1024;
const LOOK_MS = 250;
/** From the request to end to the end by force. */
const LAST_MS = 5_000;
/** The part of the output that is read: enough for what is kept of it. */
const TAIL_BYTES = 32 * 1024;

/**
 * Runs a program without a shell, in a process group of its own. Its output goes to a file and not through us, so the
 * program can outlive this process, which it may be replacing. At the deadline, or with too much output, the whole
 * group is ended.
 */
export async function runProgram({ argv, environment, withinMs, folder }: ProgramToRun): Promise<ProgramRun> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `${randomUUID()}.output`);
  const file = await open(path, 'wx+', 0o600);
  try {
    const [program, ...given] = argv;
    const child = spawn(program, given, {
      shell: false,
      detached: true,
      cwd: folder,
      env: { PATH: SEARCH_PATH, LANG: 'C.UTF-8', ...environment },
      stdio: ['ignore', file.fd, file.fd],
    });
    const outcome = await ended(child, file, withinMs);
    return { ...outcome, output: redactedOutput(await tailOf(file)) };
  } finally {
    await file.close();
    await rm(path, { force: true });
  }
}

async function ended(child: ChildProcess, file: FileHandle, withinMs: number): Promise<Omit<ProgramRun, 'output'>> {
  let stopped: string | undefined;
  const timers: NodeJS.Timeout[] = [];
  const stop = (reason: string): void => {
    if (stopped !== undefined) return;
    stopped = reason;
    endGroup(child, 'SIGTERM');
    timers.push(setTimeout(() => endGroup(child, 'SIGKILL'), LAST_MS));
  };
  timers.push(
    setTimeout(() => stop('the command did not end in time'), withinMs),
    setInterval(() => {
      void file.stat().then(
        ({ size }) => size > OUTPUT_BYTES && stop('the command wrote too much output'),
        () => undefined,
      );
    }, LOOK_MS),
  );
  const exit = await new Promise<number | string | null>((resolve) => {
    child.once('error', (error: NodeJS.ErrnoException) => resolve(`could not be started (${error.code ?? 'unknown'})`));
    child.once('exit', (code) => resolve(code));
  });
  for (const timer of timers) clearTimeout(timer);
  if (stopped !== undefined) {
    // Children of the program may still run.
    endGroup(child, 'SIGKILL');
    return { exitCode: null, reason: stopped };
  }
  if (typeof exit === 'string') return { exitCode: null, reason: `the command ${exit}` };
  if (exit === null) return { exitCode: null, reason: 'the command was ended by a signal' };
  return { exitCode: exit, reason: exit === 0 ? null : `the command ended with exit code ${exit}` };
}

function endGroup({ pid }: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // It has ended already.
  }
}

async function tailOf(file: FileHandle): Promise<string> {
  const { size } = await file.stat();
  const length = Math.min(size, TAIL_BYTES);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length);
  return buffer.subarray(0, bytesRead).toString('utf8');
}
