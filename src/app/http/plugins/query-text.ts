import type { FastifyInstance } from 'fastify';
import { FailureError, invalid } from '../../../platform/kernel/failure.ts';

const NUL = '\u0000';

/** Rejects NUL in query parameters, which no text column accepts (400 that names the parameter). */
export function refuseNulInQueries(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => done(nulIn(request.url)));
}

function nulIn(url: string): FailureError | undefined {
  const at = url.indexOf('?');
  if (at < 0 || !url.includes('%00', at)) return undefined;
  for (const [name, value] of new URLSearchParams(url.slice(at + 1))) {
    if (name.includes(NUL)) return new FailureError(invalid('query', 'must not contain NUL'));
    if (value.includes(NUL)) return new FailureError(invalid(name, 'must not contain NUL'));
  }
  return undefined;
}
