import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { asTenantId } from '../../../src/platform/kernel/ids.ts';
import { enqueue } from '../../../src/platform/kernel/job.ts';
import { greet, until, type JobsBench } from './bench.ts';

/** Recurring jobs. */
export function schedules(bench: JobsBench): void {
  const { open, declare, ran } = bench;

  it('recur on schedule, once in the whole installation, until the schedule ends', async () => {
    const tenantId = asTenantId(randomUUID());
    const schedule = { run: enqueue(greet, { who: 'Ada' }), recurrence: { everyMs: 200 }, tenantId };
    const houses = [open(declare()), open(declare())];
    await Promise.all(houses.map((jobs) => jobs.schedule('tests/greet', schedule)));
    await Promise.all(houses.map((jobs) => jobs.start()));
    await until(() => ran.length >= 3);
    expect(await houses[0]!.schedules()).toEqual(['tests/greet']);
    const [first, second] = ran;
    expect(first!.context.tenantId).toBe(tenantId);
    expect(first!.context.id).not.toBe(second!.context.id);
    expect(new Set(ran.map(({ context }) => context.id)).size).toBe(ran.length);
    await houses[1]!.unschedule('tests/greet');
    expect(await houses[0]!.schedules()).toEqual([]);
    await until(async () => (await houses[0]!.counts()).active === 0);
    const before = ran.length;
    await sleep(600);
    expect(ran.length).toBe(before);
  });

  it('run at the times of a cron expression in its time zone', async () => {
    const jobs = open(declare());
    await jobs.schedule('nightly', {
      run: enqueue(greet, { who: 'Ada' }),
      recurrence: { cron: '0 3 * * *', timeZone: 'Europe/Paris' },
    });
    await jobs.schedule('nightly', { run: enqueue(greet, { who: 'Ada' }), recurrence: { cron: '0 4 * * *' } });
    expect(await jobs.schedules()).toEqual(['nightly']);
    expect(await jobs.counts()).toMatchObject({ delayed: 1 });
    await jobs.unschedule('nightly');
    expect(await jobs.counts()).toMatchObject({ delayed: 0 });
  });
}
