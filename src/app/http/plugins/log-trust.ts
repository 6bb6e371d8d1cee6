import type { FastifyInstance, FastifyRequest } from 'fastify';
import { LogNotTrusted, type LogTrust } from '../../../platform/eventstore/log-trust.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The epoch of trust in the log when the request arrived; undefined where the response tells nothing of the log. */
    logEpoch: number | undefined;
  }
}

/** Probes, metrics, pages and documentation stay available. */
const TELLS_OF_LOG = /^\/(?:api|scim|oauth)\//;

/**
 * While the event log contradicts this installation's records, the API returns 503, for reads too. Otherwise a session,
 * device or client created in the missing part of the log would get 401, and would discard its credentials.
 */
export function refuseWhileLogContradicts(app: FastifyInstance, trust: LogTrust): void {
  app.decorateRequest('logEpoch', undefined);
  app.addHook('onRequest', (request, _reply, done) => {
    // The path of the route: a percent escape in the address is no way around.
    if (!TELLS_OF_LOG.test(request.routeOptions.url ?? request.url)) return done();
    request.logEpoch = trust.epoch;
    const { doubt } = trust;
    done(doubt?.kind === 'contradicted' ? new LogNotTrusted(doubt.reason) : undefined);
  });
}

type LogEpoch = Pick<FastifyRequest, 'logEpoch'>;

/**
 * Resolves if the response to a request may be sent. Throws `LogNotTrusted` if what it was computed from may not have been
 * the known log, whatever it says (OP-590).
 */
export const mayTell =
  (trust: LogTrust) =>
  async ({ logEpoch }: LogEpoch): Promise<void> => {
    if (logEpoch !== undefined) await trust.vouchFor(logEpoch);
  };

/** As `mayTell`, but throws after any doubt: a refusal has changed nothing, and the caller asks again. */
export const mayRefuse =
  (trust: LogTrust) =>
  async ({ logEpoch }: LogEpoch): Promise<void> => {
    if (logEpoch !== undefined) await trust.vouchForAll(logEpoch);
  };
