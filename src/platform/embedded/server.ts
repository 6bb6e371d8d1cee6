import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedPostgresFailed } from './failed.ts';
import { launch, type LaunchContext } from './launcher.ts';

export interface PostgresServerOptions {
  readonly program: string;
  readonly args: readonly string[];
  readonly context: LaunchContext;
  readonly isReady: (pid: number) => boolean;
  readonly log: (line: string) => void;
  /** The server ended without `stop`, after it had been ready. */
  readonly onExit: (reason: string) => void;
}

export interface PostgresServer {
  readonly pid: number;
  stop(): Promise<void>;
}

const POLL_MS = 10;
const LAST_WORDS_MS = 100;
const START_MS = 120_000; // replaying the write-ahead log after a crash may take a while
const FAST_SHUTDOWN_MS = 30_000;
const SURVIVORS_MS = 15_000;

/** Backends of a killed server still hold its shared memory. They notice that and end by themselves. */
const SURVIVORS = 'pre-existing shared memory block';

/** Starts the server and waits until it accepts connections. */
export async function startServer(options: PostgresServerOptions): Promise<PostgresServer> {
  for (const deadline = Date.now() + SURVIVORS_MS; ; await sleep(100)) {
    try {
      return await attempt(options);
    } catch (error) {
      if (!String(error).includes(SURVIVORS) || Date.now() > deadline) throw error;
    }
  }
}

async function attempt(options: PostgresServerOptions): Promise<PostgresServer> {
  const { file, args, options: spawnOptions } = launch(options.program, options.args, options.context);
  // A process group of its own: otherwise a terminal's Ctrl-C would also end the server, while this process still
  // drains.
  const child = spawn(file, args, { ...spawnOptions, stdio: ['ignore', 'ignore', 'pipe'], detached: true });
  const ending = watch(child, options.log);
  const pid = child.pid;
  if (pid === undefined) throw new EmbeddedPostgresFailed(`did not start: ${await ending.reason}`);
  await untilReady(() => options.isReady(pid), child, ending.reason);
  let stopping = false;
  void ending.reason.then((reason) => stopping || options.onExit(reason));
  return {
    pid,
    async stop() {
      stopping = true;
      await stopServer(child);
    },
  };
}

/** Forwards the server's lines, and keeps the last error line as the reason of its end. */
function watch(child: ChildProcess, log: (line: string) => void): { reason: Promise<string> } {
  let last = '';
  if (child.stderr) {
    createInterface({ input: child.stderr }).on('line', (line) => {
      if (/(FATAL|PANIC|ERROR):|^(setpriv|postgres):/.test(line)) last = line.replace(/^.*?(FATAL|PANIC|ERROR): */, '');
      log(line);
    });
  }
  const reason = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    const tell = () => resolve(`ended with ${child.signalCode ?? `status ${child.exitCode}`}${last && `: ${last}`}`);
    child.once('close', tell); // all its output has been read
    // Backends that survive a killed server keep its standard error open.
    child.once('exit', () => setTimeout(tell, LAST_WORDS_MS));
  });
  return { reason };
}

async function untilReady(isReady: () => boolean, child: ChildProcess, ended: Promise<string>): Promise<void> {
  let over: string | undefined;
  void ended.then((reason) => (over = reason));
  for (const deadline = Date.now() + START_MS; !isReady(); await sleep(POLL_MS)) {
    if (over !== undefined) throw new EmbeddedPostgresFailed(`did not start: it ${over}`);
    if (Date.now() > deadline) {
      child.kill('SIGQUIT');
      throw new EmbeddedPostgresFailed(`did not accept connections within ${START_MS / 1000} s`);
    }
  }
}

/**
 * SIGINT is PostgreSQL's fast shutdown: no new work, a checkpoint, then exit. SIGQUIT exits at once, with recovery at
 * the next start.
 */
async function stopServer(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGINT');
  const insist = setTimeout(() => child.kill('SIGQUIT'), FAST_SHUTDOWN_MS);
  await ended;
  clearTimeout(insist);
}
