import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { startEmbeddedPostgres, type EmbeddedConnection } from '../../../src/platform/embedded/postgres.ts';

/** A data directory with a cluster, to copy: creating one takes most of a second. */
export async function makeSeed(dataDir: string): Promise<void> {
  await (await startEmbeddedPostgres({ dataDir, durable: false })).stop();
}

/** `cp -a` keeps owners and modes, which PostgreSQL checks. */
export function plantSeed(seed: string, dataDir: string): void {
  mkdirSync(path.dirname(dataDir), { recursive: true });
  execFileSync('cp', ['-a', seed, dataDir]);
}

export interface Holder {
  readonly process: ChildProcess;
  readonly pid: number;
  readonly connection: EmbeddedConnection;
}

const TSX = fileURLToPath(import.meta.resolve('tsx'));
const HOLD = fileURLToPath(new URL('./hold.ts', import.meta.url));

/** Another process that owns an embedded PostgreSQL; rejects with its output if it ends instead. */
export async function hold(dataDir: string, { script = HOLD, prefix = [] as string[] } = {}): Promise<Holder> {
  const [file, ...args] = [...prefix, process.execPath, '--import', TSX, script, dataDir];
  const child = spawn(file!, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let complaint = '';
  child.stderr.on('data', (chunk) => (complaint += chunk));
  const ended = once(child, 'close').then(() => Promise.reject(new Error(complaint)));
  const [line] = (await Promise.race([once(createInterface({ input: child.stdout }), 'line'), ended])) as [string];
  ended.catch(() => undefined);
  return { process: child, ...(JSON.parse(line) as { pid: number; connection: EmbeddedConnection }) };
}

export async function kill(holder: Holder): Promise<void> {
  const ended = once(holder.process, 'exit');
  holder.process.kill('SIGKILL');
  await ended;
}

/** Resolves when the process has ended; an unreaped zombie counts as ended. */
export async function gone(pid: number): Promise<void> {
  while (isRunning(pid)) await sleep(10);
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== 'linux' || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

export async function ask(connection: pg.ClientConfig, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(connection);
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}
