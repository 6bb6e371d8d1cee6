import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:https';
import formbody from '@fastify/formbody';
import multipart from '@fastify/multipart';
import fastify, { LogController, type FastifyBaseLogger, type FastifyInstance } from 'fastify';
import type { Redis } from 'ioredis';
import type { Services } from '../services.ts';
import { mapErrors } from './errors.ts';
import { describeApi } from './openapi.ts';
import { IdempotentAnswers, type IdempotencyKeys } from './plugins/idempotency.ts';
import { limitRates } from './plugins/rate-limits.ts';
import { countRequests } from './plugins/request-metrics.ts';
import { setSecurityHeaders } from './plugins/security-headers.ts';
import { registerRoute } from './register.ts';
import { routeGroups } from './routes/index.ts';
import { parseJsonBodies, validateWithZod } from './validation.ts';

export interface ServerOptions {
  readonly redis?: Redis;
  readonly idempotencyKeys: IdempotencyKeys;
}

/** Interface "Limits" and choice OP-210. */
const JSON_BODY_BYTES = 1024 * 1024;

/** The whole HTTP face, not yet listening. */
export async function buildServer(services: Services, options: ServerOptions): Promise<FastifyInstance> {
  const { config, log } = services;
  const app = fastify({
    loggerInstance: log.child({ module: 'http' }) as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    // A logger a request would cost more than the few that ever log: whoever does names the request.
    childLoggerFactory: (logger) => logger,
    genReqId: () => randomUUID(),
    requestIdHeader: false,
    bodyLimit: JSON_BODY_BYTES,
    trustProxy: config.trustedProxies.length > 0 ? [...config.trustedProxies] : false,
    forceCloseConnections: 'idle',
    requestTimeout: 60_000,
    connectionTimeout: 0,
    routerOptions: { maxParamLength: 300, ignoreTrailingSlash: true },
    exposeHeadRoutes: false,
  });
  app.decorateRequest('principal', undefined);
  app.decorateRequest('uploadedFile', undefined);
  mapErrors(app);
  validateWithZod(app);
  parseJsonBodies(app);
  setSecurityHeaders(app);
  app.addHook('onSend', async (_request, reply) => {
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store');
  });
  await app.register(formbody, { bodyLimit: 64 * 1024 });
  await app.register(multipart, { limits: { files: 1, fields: 16, fieldSize: 64 * 1024, headerPairs: 64 }, throwFileSizeLimit: true });
  await limitRates(app, options.redis);
  countRequests(app);
  await describeApi(app, routeGroups);
  const answers = new IdempotentAnswers(services.database.service, options.idempotencyKeys);
  for (const { routes } of routeGroups) for (const declared of routes) registerRoute(app, declared, services, answers);
  await app.ready();
  return app;
}

/** A second door to the same routes: asks for a client certificate, and leaves judging it to the routes that need one. */
export function tlsDoor(app: FastifyInstance, certificate: { certificatePem: string; privateKeyPem: string }): Server {
  return createServer(
    {
      cert: certificate.certificatePem,
      key: certificate.privateKeyPem,
      requestCert: true,
      rejectUnauthorized: false,
      minVersion: 'TLSv1.2',
    },
    (request, response) => app.routing(request, response),
  );
}
