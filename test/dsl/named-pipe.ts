import { spawn, spawnSync } from 'node:child_process';

const WRITES = 40;

/**
 * Makes a named pipe. Somebody writes to it now and then, so that a test of code that reads it fails instead of waiting.
 * Returns how to stop that.
 */
export function makeNamedPipe(path: string): () => void {
  const { status } = spawnSync('mkfifo', [path]);
  if (status !== 0) throw new Error(`mkfifo ${path} failed`);
  const writer = spawn('sh', ['-c', `for n in $(seq ${WRITES}); do sleep 0.1; echo junk > "$0"; done`, path], {
    stdio: 'ignore',
    detached: true,
  });
  return () => {
    if (writer.exitCode === null && writer.signalCode === null) process.kill(-writer.pid!, 'SIGKILL');
  };
}
