import type { FastifyInstance } from 'fastify';
import { LogNotTrusted, type LogTrust } from '../../../platform/eventstore/log-trust.ts';

/**
 * While the event log contradicts this installation's records, the API returns 503, for reads too. Otherwise a session or
 * device created in the missing part of the log would get 401, and the client would discard its credentials. Probes, metrics
 * and documentation stay available.
 */
export function refuseWhileLogContradicts(app: FastifyInstance, trust: LogTrust): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const { doubt } = trust;
    const isRefused = doubt?.kind === 'contradicted' && request.url.startsWith('/api/');
    done(isRefused ? new LogNotTrusted(doubt.reason) : undefined);
  });
}
