import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { asTenantId } from '../../../src/platform/kernel/ids.ts';
import { greet, until, type JobsBench } from './bench.ts';

/** Jobs that succeed. */
export function running(bench: JobsBench): void {
  const { open, declare, ran, whoRan } = bench;

  it('run once, with their data, tenant and correlation', async () => {
    const jobs = open(declare());
    const tenantId = asTenantId(randomUUID());
    await jobs.start();
    await jobs.enqueue(greet, { who: 'Ada' }, { id: 'one', tenantId, correlationId: 'request-7' });
    await until(() => ran.length === 1);
    expect(ran[0]!.data).toEqual({ who: 'Ada' });
    expect(ran[0]!.context).toMatchObject({
      id: 'greet/one',
      attempt: 1,
      isLastAttempt: true,
      tenantId,
      correlationId: 'request-7',
    });
    await until(async () => (await jobs.counts()).active === 0);
    expect(await jobs.counts()).toEqual({ waiting: 0, active: 0, delayed: 0, failed: 0 });
    expect(ran).toHaveLength(1);
  });

  it('are run by one worker each, however many there are', async () => {
    const workers = [open(declare()), open(declare()), open(declare())];
    await Promise.all(workers.map((jobs) => jobs.start()));
    const names = Array.from({ length: 60 }, (_, index) => `guest ${index}`);
    await Promise.all(names.map((who, index) => workers[index % 3]!.enqueue(greet, { who })));
    await until(() => ran.length >= names.length);
    expect(whoRan().sort()).toEqual(names.sort());
  });

  it('wait in the queue until there is a worker', async () => {
    await open(declare()).enqueue(greet, { who: 'Ada' });
    const jobs = open(declare());
    expect(await jobs.counts()).toMatchObject({ waiting: 1 });
    await jobs.start();
    await until(() => ran.length === 1);
  });

  it('wait for their time', async () => {
    const jobs = open(declare());
    await jobs.enqueue(greet, { who: 'early' });
    await jobs.enqueue(greet, { who: 'late' }, { delayMs: 400 });
    expect(await jobs.counts()).toMatchObject({ waiting: 1, delayed: 1 });
    await jobs.start();
    await until(() => ran.length === 2);
    expect(whoRan()).toEqual(['early', 'late']);
  });

  it('are accepted once under one id, before and after they have run', async () => {
    const jobs = open(declare());
    await Promise.all(Array.from({ length: 5 }, () => jobs.enqueue(greet, { who: 'Ada' }, { id: 'a:b/ü' })));
    await jobs.start();
    await until(() => ran.length === 1);
    await jobs.enqueue(greet, { who: 'Ada' }, { id: 'a:b/ü' });
    await jobs.enqueue(greet, { who: 'last' });
    await until(() => whoRan().includes('last'));
    expect(whoRan()).toEqual(['Ada', 'last']);
  });

  it('are rejected if they are unknown or their data is invalid', async () => {
    const jobs = open(declare());
    await expect(jobs.enqueue({ ...greet, name: 'gret' }, { who: 'Ada' })).rejects.toThrow('there is no job gret');
    // @ts-expect-error the schema rejects it at run time, too
    await expect(jobs.enqueue(greet, { who: 7 })).rejects.toThrow('job greet: its data is invalid: who invalid_type');
    await expect(jobs.enqueue(greet, { who: 'x'.repeat(70_000) })).rejects.toThrow('job greet: its data is too large');
    expect(await jobs.counts()).toEqual({ waiting: 0, active: 0, delayed: 0, failed: 0 });
  });
}
