import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { callerIdOf } from '../principal.ts';
import { traceIdOf } from './request-ids.ts';

/** What supervisors and monitors ask every few seconds. They are logged at level `debug`. */
const PROBES: ReadonlySet<string> = new Set(['/live', '/ready', '/health', '/metrics']);
const MAX_PATH = 300;

/**
 * One line a request, when its response was sent or its client has left. The line has the path without its query: a
 * query may hold codes and signatures. It names people by id only.
 */
export function logRequests(app: FastifyInstance, log: Logger): void {
  const requests = log.child({ module: 'request' });
  app.addHook('onResponse', (request, reply, done) => {
    const level = PROBES.has(request.routeOptions.url ?? '') ? 'debug' : 'info';
    if (requests.isLevelEnabled(level)) requests[level](lineOf(request, reply), 'request');
    done();
  });
}

function lineOf(request: FastifyRequest, reply: FastifyReply): object {
  const { principal, raw } = request;
  const traceId = request.span?.isRecording() ? request.span.spanContext().traceId : traceIdOf(raw);
  return {
    requestId: request.id,
    ...(traceId === undefined ? {} : { traceId }),
    method: request.method,
    route: request.routeOptions.url ?? null,
    path: request.url.split('?', 1)[0]!.slice(0, MAX_PATH),
    status: reply.statusCode,
    ms: Math.round(reply.elapsedTime * 10) / 10,
    ...(raw.destroyed && !reply.raw.writableFinished ? { aborted: true } : {}),
    ...callerOf(request, principal),
  };
}

/** Privacy: devices are logged without their address, because it reveals where the employee is. */
function callerOf({ ip }: FastifyRequest, principal: FastifyRequest['principal']): object {
  if (!principal) return { ip: ip ?? null };
  const { kind, tenantId } = principal;
  return principal.kind === 'device'
    ? { tenantId, actor: kind, actorId: callerIdOf(principal) }
    : { tenantId, actor: kind, actorId: callerIdOf(principal), ip: ip ?? null };
}
