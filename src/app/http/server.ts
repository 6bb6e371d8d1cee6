import { constants } from 'node:crypto';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer, type Server } from 'node:https';
import multipart from '@fastify/multipart';
import fastify, { LogController, type FastifyBaseLogger, type FastifyInstance } from 'fastify';
import type { Redis } from 'ioredis';
import { mapErrors } from './errors.ts';
import { allowOrigins } from './plugins/cors.ts';
import { refuseWhileClosing } from './plugins/closing.ts';
import { LAST_WORDS_MS, refuseWhatIsLeft } from './plugins/cut-short.ts';
import { endHeadStreams } from './plugins/head-requests.ts';
import { describeApi } from './openapi/document.ts';
import { mayRefuse, refuseWhileLogContradicts } from './plugins/log-trust.ts';
import { addressRefuser, malformedRefuser, refuseWithoutHost } from './plugins/malformed-requests.ts';
import { noteRefusals, type NoteRefusal } from './plugins/early-refusals.ts';
import type { IdempotencyKeys } from './plugins/idempotency-sealing.ts';
import { IdempotentResponses } from './plugins/idempotent-responses.ts';
import { noteBrokenQueries } from './plugins/query-text.ts';
import { limitRates } from './plugins/rate-limits.ts';
import { giveBackAfterOutages } from './plugins/given-back.ts';
import { recordRefusedScimClients } from './plugins/refused-scim-clients.ts';
import { requestIdOf } from './plugins/request-ids.ts';
import { logRequests } from './plugins/request-log.ts';
import { countRequests } from './plugins/request-metrics.ts';
import { traceRequests } from './plugins/request-tracing.ts';
import { endSlowReaders } from './plugins/slow-readers.ts';
import { serveInOrder } from './plugins/pipelining.ts';
import { setSecurityHeaders } from './plugins/security-headers.ts';
import { refuseOtherMethods } from './other-methods.ts';
import { registerRoute, type RegisterDependencies } from './register.ts';
import { routeGroups, type RouteDependencies } from './routes/index.ts';
import { parseForms } from './parse-forms.ts';
import { parseJsonBodies, validateWithZod } from './validation.ts';
import type { Config } from '../config/config.ts';
import type { RefusedScimClients } from '../../contexts/scim/refused-scim-clients.ts';
import type { Logger } from 'pino';
import type { Database } from '../../platform/database/database.ts';
import type { LogTrust } from '../../platform/eventstore/log-trust.ts';

export interface ServerDependencies {
  readonly config: Pick<Config, 'trustedProxies' | 'drainMs' | 'logRequests' | 'corsAllowedOrigins'>;
  readonly log: Logger;
  readonly database: Database;
  readonly trust: LogTrust;
  readonly refusedScimClients: RefusedScimClients;
}

export interface HttpServerOptions {
  readonly redis?: Redis;
  readonly idempotencyKeys: IdempotencyKeys;
}

/** Only authenticated encryption with forward secrecy, for TLS 1.2 and 1.3 (RFC 9325 §4.2). */
const CIPHERS = [
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_AES_128_GCM_SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
].join(':');

/** Interface "Limits" and choice OP-210. */
const JSON_BODY_BYTES = 1024 * 1024;
/** A request must arrive completely within this time. */
const REQUEST_MS = 60_000;
/** Longer than usual load balancers keep an idle connection, so that none sends into a closing one. */
const KEEP_ALIVE_MS = 72_000;
const SERVER_OPTIONS = { requestTimeout: REQUEST_MS, requireHostHeader: false };
/** A client that reads nothing of its response for this long is disconnected. */
const SLOW_READER_MS = 30_000;

/** Builds the HTTP server with all routes. It does not listen yet. */
export async function buildServer(
  services: ServerDependencies & RegisterDependencies & RouteDependencies,
  options: HttpServerOptions,
): Promise<FastifyInstance> {
  const { config, log } = services;
  const note = noteRefusals(config.logRequests ? log : undefined);
  const app = fastify({
    loggerInstance: log.child({ module: 'http' }) as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    // A child logger per request is expensive, and few requests log. Code that logs adds the request id itself.
    childLoggerFactory: (logger) => logger,
    genReqId: requestIdOf,
    requestIdHeader: false,
    bodyLimit: JSON_BODY_BYTES,
    trustProxy: config.trustedProxies.length > 0 ? [...config.trustedProxies] : false,
    forceCloseConnections: 'idle',
    // Fastify's own response would have another form than all others: `refuseWhileClosing`.
    return503OnClosing: false,
    serverFactory: (handle) => createListener(handle, note),
    clientErrorHandler: malformedRefuser(note),
    frameworkErrors: addressRefuser(note),
    routerOptions: { maxParamLength: 300, ignoreTrailingSlash: true },
    exposeHeadRoutes: true,
  });
  app.addHook('preClose', async () => {
    // Running requests may finish, but a half-sent request would keep the listener open without limit.
    setTimeout(() => app.server.closeAllConnections(), config.drainMs + LAST_WORDS_MS).unref();
  });
  app.decorate('noteRefusal', note);
  app.decorateRequest('principal', undefined);
  app.decorateRequest('brokenTexts', undefined);
  app.decorateRequest('unreadBody', undefined);
  app.decorateRequest('uploadedFile', undefined);
  app.decorateRequest('scimToken', undefined);
  app.decorateRequest('endTurn', undefined);
  app.decorateRequest('deadline', undefined);
  app.decorateRequest('services', undefined);
  traceRequests(app);
  if (config.logRequests) logRequests(app, log);
  app.addHook('onResponse', (request, _reply, done) => {
    request.deadline?.end();
    done();
  });
  recordRefusedScimClients(app, services);
  refuseWhatIsLeft(app, config.drainMs);
  giveBackAfterOutages(app);
  mapErrors(app, mayRefuse(services.trust));
  validateWithZod(app);
  parseJsonBodies(app);
  setSecurityHeaders(app);
  await allowOrigins(app, config.corsAllowedOrigins);
  refuseWhileClosing(app);
  refuseWhileLogContradicts(app, services.trust);
  refuseWithoutHost(app);
  noteBrokenQueries(app);
  endHeadStreams(app);
  endSlowReaders(app, SLOW_READER_MS);
  app.addHook('onSend', async (_request, reply) => {
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store');
  });
  parseForms(app);
  await app.register(multipart, {
    limits: { files: 1, fields: 16, fieldSize: 64 * 1024, headerPairs: 64 },
    throwFileSizeLimit: true,
  });
  await limitRates(app, options.redis, log);
  countRequests(app);
  await describeApi(app, routeGroups, services);
  const answers = new IdempotentResponses(services.database.service, options.idempotencyKeys);
  for (const { routes } of routeGroups) for (const declared of routes) registerRoute(app, declared, services, answers);
  refuseOtherMethods(
    app,
    routeGroups.flatMap(({ routes }) => routes),
  );
  await app.ready();
  return app;
}

/** A TLS listener for the same routes. It requests a client certificate; the routes that need one verify it. */
export function createTlsListener(
  app: FastifyInstance,
  certificate: { certificatePem: string; privateKeyPem: string },
): Server {
  const listener = createServer({
    cert: certificate.certificatePem,
    key: certificate.privateKeyPem,
    requestCert: true,
    rejectUnauthorized: false,
    minVersion: 'TLSv1.2',
    ciphers: CIPHERS,
    // OpenSSL options for which node:tls has no setting.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION | constants.SSL_OP_CIPHER_SERVER_PREFERENCE,
    ...SERVER_OPTIONS,
  });
  listener.on('clientError', malformedRefuser(app.noteRefusal));
  serveInOrder(listener, (request, response) => app.routing(request, response), app.noteRefusal);
  return listener;
}

function createListener(handle: RequestListener, note: NoteRefusal) {
  const listener = createHttpServer({ ...SERVER_OPTIONS, keepAliveTimeout: KEEP_ALIVE_MS });
  serveInOrder(listener, handle, note);
  return listener;
}
