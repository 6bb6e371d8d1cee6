import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { conflict, FailureError } from '../../../src/platform/kernel/failure.ts';
import { asTenantId } from '../../../src/platform/kernel/ids.ts';
import { enqueue } from '../../../src/platform/kernel/job.ts';
import { JobCatalogue } from '../../../src/platform/jobs/catalogue.ts';
import { failureReason } from '../../../src/platform/jobs/failure-reason.ts';
import { defineJob, JobFailed, retryDelay } from '../../../src/platform/jobs/job.ts';

const none = () => 0;
const full = () => 0.999_999;

describe('the delay before another attempt', () => {
  it('is taken from the list, whose last entry repeats', () => {
    expect([1, 2, 3, 4].map((attempt) => retryDelay([10, 20, 30], attempt))).toEqual([10, 20, 30, 30]);
    expect(retryDelay([], 1)).toBe(0);
  });

  it('doubles up to the maximum, and at least half of it applies', () => {
    const backoff = { firstMs: 100, longestMs: 1_000 };
    expect([1, 2, 3, 4, 5, 60].map((attempt) => retryDelay(backoff, attempt, full))).toEqual([
      100, 200, 400, 800, 1_000, 1_000,
    ]);
    expect([1, 2, 60].map((attempt) => retryDelay(backoff, attempt, none))).toEqual([50, 100, 500]);
  });
});

describe('the stored reason of a failure', () => {
  it('is the message if that was written to be stored', () => {
    expect(failureReason(new JobFailed('the server is away', { cause: new Error('hunter2') }))).toBe(
      'the server is away',
    );
    expect(failureReason(new FailureError(conflict('already_exists', 'already enrolled')))).toBe('already enrolled');
  });

  it('is otherwise the kind, the code and the place, and never the message', () => {
    const error = Object.assign(new TypeError('hunter2'), { code: 'ECONNREFUSED' });
    error.stack =
      'TypeError: hunter2\n    at lookup (node:dns:1:2)\n    at send (/home/me/castellan/src/mail/smtp.ts:42:7)\n';
    expect(failureReason(error)).toBe('TypeError ECONNREFUSED at src/mail/smtp.ts:42');
    expect(failureReason(Object.assign(new Error('x'), { name: 'a secret', code: 'and another' }))).toBe('Error');
    expect(failureReason('hunter2')).toBe('failed for an unknown reason');
  });
});

describe('a catalogue of jobs', () => {
  const job = (name: string, lane?: string) =>
    defineJob({
      name,
      data: z.object({ tenantId: z.string().optional() }),
      attempts: 1,
      backoff: [],
      ...(lane && { lane }),
      handle: async () => undefined,
    });

  it('rejects duplicate names, and names that are invalid in Redis or a metric', () => {
    expect(() => new JobCatalogue([job('greet'), job('greet')])).toThrow('job greet is declared twice');
    expect(() => new JobCatalogue([job('greet:all')])).toThrow('lower case');
    expect(() => new JobCatalogue([job('greet', 'fast lane')])).toThrow('lower case');
  });

  it('lists the lanes that need workers', () => {
    expect(new JobCatalogue([job('greet'), job('scan', 'slow'), job('sweep', 'slow')]).lanes).toEqual([
      'default',
      'slow',
    ]);
  });

  it('takes the tenant from the data if none is given', () => {
    const greet = job('greet');
    const catalogue = new JobCatalogue([greet]);
    const tenantId = asTenantId('0190f000-0000-7000-8000-000000000001');
    expect(catalogue.prepare(enqueue(greet, { tenantId })).payload.tenantId).toBe(tenantId);
    expect(catalogue.prepare(enqueue(greet, {})).payload.tenantId).toBeNull();
  });

  it('generates an id for a job without one', () => {
    const greet = job('greet');
    const catalogue = new JobCatalogue([greet]);
    expect(catalogue.prepare(enqueue(greet, {})).id).not.toBe(catalogue.prepare(enqueue(greet, {})).id);
    expect(() => catalogue.prepare(enqueue(greet, {}), { id: 'x'.repeat(300) })).toThrow('its id is too long');
  });
});
