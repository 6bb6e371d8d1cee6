import type { FastifyInstance } from 'fastify';
import { LogNotTrusted, type LogTrust } from '../../../platform/eventstore/log-trust.ts';

/**
 * While the event log contradicts what is known of it, the API answers 503. Reads would be as wrong as writes: a session or device
 * that began in the missing part would be told that it does not exist, and a client would throw its credentials away.
 * Probes, metrics and documents stay.
 */
export function refuseWhileLogContradicts(app: FastifyInstance, trust: LogTrust): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const { doubt } = trust;
    const isRefused = doubt?.kind === 'contradicted' && request.url.startsWith('/api/');
    done(isRefused ? new LogNotTrusted(doubt.reason) : undefined);
  });
}
