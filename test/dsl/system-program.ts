import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, existsSync } from 'node:fs';

/** Programs that refuse to run as root run as this user, who exists wherever Debian's PostgreSQL does. */
const USER = 'postgres';
const isRoot = process.getuid?.() === 0;

const asUser = (program: string, args: readonly string[]): [string, string[]] =>
  isRoot ? ['runuser', ['-u', USER, '--', program, ...args]] : [program, [...args]];

export function runProgram(program: string, args: readonly string[], input?: string): string {
  const [file, all] = asUser(program, args);
  const { status, stdout, stderr, error } = spawnSync(file, all, {
    encoding: 'utf8',
    cwd: '/',
    maxBuffer: 64 * 1024 * 1024,
    ...(input === undefined ? {} : { input }),
  });
  if (status !== 0) throw new Error(`${program} ended with ${status}: ${error?.message ?? stderr}`);
  return stdout;
}

export interface RunningProgram {
  stop(): Promise<void>;
}

/** Started and listening on a port of this machine. SIGINT is a fast shutdown for all of them. */
export async function startProgram(program: string, args: readonly string[], port: number): Promise<RunningProgram> {
  // `runuser` would not forward a signal: with --exec the program replaces it.
  const child = isRoot
    ? spawn('setpriv', ['--reuid', USER, '--regid', USER, '--clear-groups', '--pdeathsig', 'INT', program, ...args], {
        cwd: '/',
        stdio: ['ignore', 'ignore', 'pipe'],
      })
    : spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr!.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-4_000)));
  await listening(child, port, () => said);
  return {
    async stop() {
      if (child.exitCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGINT');
      await ended;
    },
  };
}

async function listening(child: ChildProcess, port: number, said: () => string): Promise<void> {
  const { connect } = await import('node:net');
  for (const deadline = Date.now() + 20_000; ; await new Promise((resolve) => setTimeout(resolve, 20))) {
    if (child.exitCode !== null || Date.now() > deadline) throw new Error(`a program did not start: ${said()}`);
    const socket = connect(port, '127.0.0.1');
    const answered = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'error').then(() => false),
    ]).catch(() => false);
    socket.destroy();
    if (answered) return;
  }
}

/** A folder that the programs' user may write to. */
export function programFolder(name: string): string {
  const folder = mkdtempSync(`/tmp/castellan-${name}-`);
  if (isRoot) spawnSync('chown', [USER, folder]);
  chmodSync(folder, 0o700);
  return folder;
}

const RELEASES = '/usr/lib/postgresql';

/** The folder with the programs of the newest PostgreSQL that Debian's packages installed. */
export function findSystemPostgres(): string | undefined {
  if (!existsSync(RELEASES)) return undefined;
  const folders = readdirSync(RELEASES)
    .sort((one, other) => Number(other) - Number(one))
    .map((release) => `${RELEASES}/${release}/bin`);
  return folders.find((folder) => existsSync(`${folder}/initdb`) && existsSync(`${folder}/pg_dump`));
}

export const findPgBouncer = (): string | undefined =>
  ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer'].find((path) => existsSync(path));
