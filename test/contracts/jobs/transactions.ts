import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { enqueue } from '../../../src/platform/kernel/job.ts';
import { greet, until, type JobsBench } from './bench.ts';

/** Jobs in a transaction of the caller. */
export function transactions(bench: JobsBench): void {
  const { open, declare, ran, whoRan } = bench;

  it('exist only when the transaction that added them commits', async () => {
    const jobs = open(declare());
    await jobs.start();
    for (const [who, end] of [
      ['nobody', 'rollback'],
      ['Ada', 'commit'],
    ] as const) {
      const client = await bench.pool.connect();
      await client.query('begin');
      await jobs.enqueueWithin(client, enqueue(greet, { who }), { id: 'same' });
      await sleep(300);
      expect(whoRan()).toEqual([]);
      await client.query(end);
      client.release();
    }
    await until(() => ran.length === 1);
    await jobs.enqueue(greet, { who: 'last' });
    await until(() => ran.length === 2);
    expect(whoRan()).toEqual(['Ada', 'last']);
  });

  it('added in a transaction keep id, delay and attempts', async () => {
    const jobs = open(declare({ attempts: 4 }));
    await jobs.start();
    const client = await bench.pool.connect();
    await client.query('begin');
    await jobs.enqueueWithin(client, enqueue(greet, { who: 'early' }));
    await jobs.enqueueWithin(client, enqueue(greet, { who: 'late' }), { id: 'x', delayMs: 500, correlationId: 'c' });
    await jobs.enqueueWithin(client, enqueue(greet, { who: 'late' }), { id: 'x', delayMs: 500, correlationId: 'c' });
    await client.query('commit');
    client.release();
    await until(() => ran.length === 2);
    expect(whoRan()).toEqual(['early', 'late']);
    expect(ran[1]!.context).toMatchObject({ id: 'greet/x', correlationId: 'c', attempt: 1, isLastAttempt: false });
  });
}
