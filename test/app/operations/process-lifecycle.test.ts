import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';

const PROGRAM = fileURLToPath(new URL('../../fixtures/programs/supervised.ts', import.meta.url));
const NEVER = 3_600_000;

interface Ended {
  readonly code: number | null;
  readonly log: string;
}

let running: ChildProcess | undefined;
afterEach(() => running?.kill('SIGKILL'));

async function supervised(stopsAfterMs: number, withinMs: number) {
  const child = fork(PROGRAM, [String(stopsAfterMs), String(withinMs)], {
    execArgv: ['--import', 'tsx'],
    stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
  });
  running = child;
  let log = '';
  child.stdout!.setEncoding('utf8').on('data', (chunk: string) => (log += chunk));
  const exit = once(child, 'close');
  await once(child, 'message');
  return {
    child,
    hasSaid: async (words: string) => {
      while (!log.includes(words)) await once(child.stdout!, 'data');
    },
    ended: async (): Promise<Ended> => ({ code: ((await exit) as [number | null])[0], log }),
  };
}

describe('a supervised process', { timeout: 60_000 }, () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('stops its parts at %s, and ends with 0', async (signal) => {
    const { child, ended } = await supervised(10, NEVER);
    child.kill(signal);
    expect((await ended()).code).toBe(0);
  });

  it('counts signals that come together once', async () => {
    const { child, ended } = await supervised(300, NEVER);
    child.kill('SIGTERM');
    child.kill('SIGINT');
    const { code, log } = await ended();
    expect([code, log.includes('a second signal')]).toEqual([0, false]);
  });

  it('ends at once, with 1, when it is signalled again while its parts do not stop', async () => {
    const { child, ended, hasSaid } = await supervised(NEVER, NEVER);
    child.kill('SIGTERM');
    await hasSaid('stopping');
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    child.kill('SIGTERM');
    const { code, log } = await ended();
    expect([code, log.includes('a second signal')]).toEqual([1, true]);
  });

  it('ends after its time, although a part has not stopped', async () => {
    const { child, ended } = await supervised(NEVER, 50);
    child.kill('SIGTERM');
    const { code, log } = await ended();
    expect([code, log.includes('some parts have not stopped')]).toEqual([1, true]);
  });

  it('ends with 1 after an error that nobody caught', async () => {
    const { child, ended } = await supervised(10, NEVER);
    child.send('fail');
    const { code, log } = await ended();
    expect([code, log.includes('uncaught error')]).toEqual([1, true]);
  });
});
