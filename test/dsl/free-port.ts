import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** One file for each port that a running test process has been given; its content is the pid of that process. */
const TAKEN = join(tmpdir(), 'castellan-test-ports');
const LOWEST = 10_000;
const RANGE_OF_CONNECTIONS = '/proc/sys/net/ipv4/ip_local_port_range';
const ATTEMPTS = 1_000;

/**
 * A free TCP port of 127.0.0.1 that nobody else gets while this process lives, also while the server on it is stopped
 * and started again. It lies below the ports that the system gives to outgoing connections: one of those could take it
 * in between.
 */
export async function freePort(): Promise<number> {
  mkdirSync(TAKEN, { recursive: true });
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const port = randomInt(LOWEST, lowestOfConnections());
    if (!isTaken(port) && (await isFree(port))) return port;
  }
  throw new Error(`no free port between ${LOWEST} and ${lowestOfConnections()}`);
}

function lowestOfConnections(): number {
  try {
    return Math.max(LOWEST + 1, Number(readFileSync(RANGE_OF_CONNECTIONS, 'utf8').split(/\s/)[0]));
  } catch {
    // The range that IANA recommends, where the system does not say.
    return 49_152;
  }
}

/** Takes the port, unless a process that still runs has it. */
function isTaken(port: number): boolean {
  const file = join(TAKEN, String(port));
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return false;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  // Of a process that has ended: the next attempt may have it.
  if (!isRunning(ownerOf(file))) rmSync(file, { force: true });
  return true;
}

function ownerOf(file: string): number {
  try {
    return Number(readFileSync(file, 'utf8'));
  } catch {
    return 0;
  }
}

function isRunning(pid: number): boolean {
  // Created and not yet written.
  if (pid === 0) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
