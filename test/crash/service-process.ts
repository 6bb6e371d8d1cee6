import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../dsl/free-port.ts';

/** The service as an operator runs it: a separate process on a data directory, with the embedded PostgreSQL. */
export interface ServiceProcess {
  readonly url: string;
  /** Its last output, once it has ended. */
  readonly lastWords: string | undefined;
  /** SIGKILL for the service and for its PostgreSQL: no chance to write anything. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

export async function startService(
  dataDir: string,
  env: Record<string, string>,
  args: readonly string[] = [],
): Promise<ServiceProcess> {
  const port = Number(env['PORT'] ?? (await freePort()));
  const child = spawn(process.execPath, ['scripts/run.mjs', 'src/main.ts', ...args], {
    env: {
      ...process.env,
      NODE_ENV: 'production',
      VITEST: '',
      DATA_DIR: dataDir,
      PORT: String(port),
      TLS_PORT: '0',
      LOG_LEVEL: 'error',
      RATE_LIMIT_RPS: '1000000',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout!, child.stderr!])
    stream.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(-8_000)));
  const url = `http://127.0.0.1:${port}`;
  await ready(url, child, () => output).catch(async (error: unknown) => {
    // A service that never became ready would run on after the test.
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    throw error;
  });
  const ended = once(child, 'exit');
  return {
    url,
    get lastWords() {
      return child.exitCode === null && child.signalCode === null ? undefined : output;
    },
    async kill() {
      const postmaster = Number(
        readFileSync(join(dataDir, 'postgres', 'cluster', 'postmaster.pid'), 'utf8').split('\n')[0],
      );
      process.kill(postmaster, 'SIGKILL');
      child.kill('SIGKILL');
      await ended;
    },
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function ready(url: string, child: ChildProcess, output: () => string): Promise<void> {
  const deadline = Date.now() + 120_000;
  for (;;) {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`the service ended while starting: ${output()}`);
    const answer = await fetch(`${url}/ready`).catch(() => undefined);
    if (answer?.ok) return;
    if (Date.now() > deadline) throw new Error(`the service did not become ready: ${output()}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
