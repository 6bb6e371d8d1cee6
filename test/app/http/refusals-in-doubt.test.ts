import fastify from 'fastify';
import { describe, expect, it } from 'vitest';
import { mapErrors } from '../../../src/app/http/errors.ts';
import { mayRefuse, refuseWhileLogContradicts } from '../../../src/app/http/plugins/log-trust.ts';
import { LogTrust } from '../../../src/platform/eventstore/log-trust.ts';
import { FailureError, notFound } from '../../../src/platform/kernel/failure.ts';

describe('a refusal of a request during which the log came into doubt', () => {
  it('is not told, even if the log is trusted again: another one may have been there for a moment', async () => {
    const trust = new LogTrust();
    const app = fastify();
    refuseWhileLogContradicts(app, trust);
    mapErrors(app, mayRefuse(trust));
    app.get<{ Querystring: { doubt?: string } }>('/api/record', ({ query }) => {
      if (query.doubt) trust.suspect('a connection was lost');
      if (query.doubt) trust.confirmed(trust.epoch);
      throw new FailureError(notFound());
    });
    expect((await app.inject('/api/record')).statusCode).toBe(404);
    const { statusCode, headers } = await app.inject('/api/record?doubt=1');
    expect(statusCode).toBe(503);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect((await app.inject('/api/record')).statusCode).toBe(404);
    await app.close();
  });
});
