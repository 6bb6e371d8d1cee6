import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { asTenantId } from '../../../src/platform/kernel/ids.ts';
import { JobFailed, type JobContext } from '../../../src/platform/jobs/job.ts';
import { greet, until, type JobsBench } from './bench.ts';

/** Jobs that do not succeed. */
export function failing(bench: JobsBench): void {
  const { open, declare, ran } = bench;

  it('are retried, and kept when they have failed for good, without the text of the error', async () => {
    const attempts: number[] = [];
    const fail = async (_: unknown, { attempt, isLastAttempt }: JobContext) => {
      attempts.push(attempt);
      expect(isLastAttempt).toBe(attempt === 3);
      throw Object.assign(new Error('password hunter2 was refused'), { code: 'EAUTH' });
    };
    const jobs = open(declare({ attempts: 3, backoff: [20, 40], handle: fail }));
    const tenantId = asTenantId(randomUUID());
    await jobs.start();
    await jobs.enqueue(greet, { who: 'Ada' }, { id: 'bad', tenantId });
    await until(async () => (await jobs.counts()).failed === 1);
    expect(attempts).toEqual([1, 2, 3]);
    const [failed] = await jobs.failed(10);
    expect(failed).toMatchObject({ id: 'greet/bad', name: 'greet', tenantId, correlationId: 'greet/bad', attempts: 3 });
    expect(failed!.reason).toMatch(/^Error EAUTH/);
    expect(JSON.stringify(failed)).not.toContain('hunter2');
  });

  it('succeed at a later attempt', async () => {
    const jobs = open(
      declare({
        attempts: 3,
        handle: async (data, context) => {
          if (context.attempt < 3) throw new Error('not yet');
          ran.push({ data, context });
        },
      }),
    );
    await jobs.start();
    await jobs.enqueue(greet, { who: 'Ada' });
    await until(() => ran.length === 1);
    await until(async () => (await jobs.counts()).active === 0);
    expect(await jobs.counts()).toMatchObject({ failed: 0, delayed: 0 });
  });

  it('are not retried when another attempt would not help, and store the reason', async () => {
    let attempts = 0;
    const jobs = open(
      declare({
        attempts: 5,
        handle: async () => {
          attempts += 1;
          throw new JobFailed('the address does not exist', { final: true });
        },
      }),
    );
    await jobs.start();
    await jobs.enqueue(greet, { who: 'Ada' });
    await until(async () => (await jobs.counts()).failed === 1);
    expect(attempts).toBe(1);
    expect((await jobs.failed(1))[0]!.reason).toBe('the address does not exist');
  });

  it('can be put back to work after they have failed', async () => {
    let broken = true;
    const jobs = open(
      declare({
        handle: async (data, context) => {
          if (broken) throw new JobFailed('the server is away');
          ran.push({ data, context });
        },
      }),
    );
    await jobs.start();
    await jobs.enqueue(greet, { who: 'Ada' }, { id: 'again' });
    await until(async () => (await jobs.counts()).failed === 1);
    broken = false;
    expect(await jobs.retry('greet/again')).toBe(true);
    await until(() => ran.length === 1);
    expect(ran[0]!.context.attempt).toBe(1);
    expect(await jobs.retry('greet/none')).toBe(false);
  });

  it('fail when they take too long, and are told to stop', async () => {
    let told = false;
    const jobs = open(
      declare({
        timeoutMs: 50,
        handle: (_, { signal }) => new Promise(() => signal.addEventListener('abort', () => (told = true))),
      }),
    );
    await jobs.start();
    await jobs.enqueue(greet, { who: 'Ada' });
    await until(async () => (await jobs.counts()).failed === 1);
    expect(told).toBe(true);
    expect((await jobs.failed(1))[0]!.reason).toBe('took longer than 50 ms');
  });

  it('with data that is no longer valid fail for good, without disclosing it', async () => {
    const secretive = { name: greet.name, data: z.object({ secret: z.string() }) };
    await open(declare({ data: secretive.data })).enqueue(secretive, { secret: 'hunter2' });
    const jobs = open(declare({ attempts: 9 }));
    await jobs.start();
    await until(async () => (await jobs.counts()).failed === 1);
    expect((await jobs.failed(1))[0]!.reason).toBe('its data is invalid: who invalid_type');
  });
}
