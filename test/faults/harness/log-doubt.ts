import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { ask } from './ask.ts';
import type { Installation } from './installation.ts';
import { until } from './until.ts';

/** The text and the metric by which the service reports that its log is not the known one. */
const WORDS = /event log (is older than|is empty|went back)/i;
const METRIC = /^castellan_event_log_trusted 0$/m;
const SAID_MS = 30_000;

const run = promisify(execFile);

/**
 * `/health`, `/ready`, `projections status` and a metric report that the log moved backwards, on every node that should
 * work.
 */
export async function expectLogDoubted(installation: Installation): Promise<void> {
  const silent = new Set<string>();
  await until(
    () => `every node says that the log went backwards; silent: ${[...silent].join(', ')}`,
    SAID_MS,
    async () => {
      silent.clear();
      for (const { name, url } of installation.present) {
        const [health, ready, metrics] = await Promise.all(
          ['/health', '/ready', '/metrics'].map((path) => ask(url + path, { timeoutMs: 5_000 }).catch(() => undefined)),
        );
        if (!health || health.body?.status === 'healthy' || !WORDS.test(health.text)) silent.add(`${name} /health`);
        if (ready?.status !== 503) silent.add(`${name} /ready`);
        if (!metrics || !METRIC.test(metrics.text)) silent.add(`${name} /metrics`);
      }
      return silent.size === 0;
    },
  );
  expect(await castellan(installation, 'projections', 'status')).toMatch(WORDS);
}

/** The output of an operator's command. */
export async function castellan({ env, dataDir }: Installation, ...args: string[]): Promise<string> {
  const ran = run(process.execPath, ['scripts/run.mjs', 'src/cli.ts', ...args], {
    env: { ...process.env, ...env, NODE_ENV: 'production', VITEST: '', DATA_DIR: dataDir },
    timeout: 60_000,
  });
  // A finding, such as a doubt about the log, is exit code 1.
  const { stdout } = await ran.catch((error: { code?: unknown; stdout: string }) => {
    if (error.code !== 1) throw error;
    return error;
  });
  return stdout;
}
