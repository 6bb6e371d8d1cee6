import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { JobContext } from '../../../src/platform/jobs/job.ts';
import { greet, SETTINGS, until, type JobsBench } from './bench.ts';

/** Jobs while worker processes start and stop. */
export function processes(bench: JobsBench): void {
  const { open, declare, ran, whoRan } = bench;

  it('are run again when their process is killed', async () => {
    const jobs = open(declare());
    await jobs.enqueue(greet, { who: 'Ada' });
    const child = spawn(
      process.execPath,
      [
        '--import',
        import.meta.resolve('tsx'),
        fileURLToPath(new URL('./stuck-worker.ts', import.meta.url)),
        JSON.stringify({ ...bench.server, lane: bench.lane, ...SETTINGS }),
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    expect(line).toBe('running greet for Ada');
    child.kill('SIGKILL');
    await once(child, 'exit');
    await jobs.start();
    await until(() => ran.length === 1);
    expect(whoRan()).toEqual(['Ada']);
  });

  it('that run are finished when the process is stopping, and no more are begun', async () => {
    let finish!: () => void;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    let begun = 0;
    const handle = async (data: unknown, context: JobContext) => {
      begun += 1;
      await finished;
      ran.push({ data, context });
    };
    const jobs = open(declare({ handle }));
    await jobs.start();
    await jobs.enqueue(greet, { who: 'Ada' });
    await until(() => begun === 1);
    const stopped = jobs.stop();
    await jobs.enqueue(greet, { who: 'next' });
    finish();
    await stopped;
    expect(whoRan()).toEqual(['Ada']);
    expect(await jobs.counts()).toEqual({ waiting: 1, active: 0, delayed: 0, failed: 0 });
  });

  it('that do not finish in time are returned, and the attempt does not count', async () => {
    let signal: AbortSignal | undefined;
    const stuck = open(declare({ handle: (_, context) => ((signal = context.signal), new Promise(() => undefined)) }));
    await stuck.start();
    await stuck.enqueue(greet, { who: 'Ada' });
    await until(() => signal !== undefined);
    await stuck.stop(50);
    expect(signal!.aborted).toBe(true);
    const jobs = open(declare());
    expect(await jobs.counts()).toEqual({ waiting: 1, active: 0, delayed: 0, failed: 0 });
    await jobs.start();
    await until(() => ran.length === 1);
    expect(ran[0]!.context.attempt).toBe(1);
  });
}
