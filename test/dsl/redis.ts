import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { freePort } from './free-port.ts';

export interface TestRedis {
  readonly url: string;
  readonly port: number;
  /** Pauses it: connections stay open, and nothing responds. */
  freeze(): void;
  thaw(): void;
  stop(): Promise<void>;
}

export const findRedis = (): boolean => spawnSync('redis-server', ['--version']).status === 0;

/** The redis-server of this machine, empty, on a free port, or on a known one to come back on. */
export async function startRedis(known?: number): Promise<TestRedis> {
  const port = known ?? (await freePort());
  const folder = mkdtempSync('/tmp/castellan-redis-');
  const options = { port: String(port), bind: '127.0.0.1', save: '', appendonly: 'no', dir: folder };
  const child = spawn(
    'redis-server',
    Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]),
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const exited = once(child, 'exit').then(() => Promise.reject(new Error('redis-server did not start')));
  exited.catch(() => undefined);
  const ready = new Promise<void>((resolve) => {
    createInterface({ input: child.stdout }).on(
      'line',
      (line) => line.includes('Ready to accept connections') && resolve(),
    );
  });
  await Promise.race([ready, exited]);
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
