import { context, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, type Span } from '@opentelemetry/api';
import type { FastifyInstance } from 'fastify';
import { tracer } from '../../../platform/observability/tracing.ts';

declare module 'fastify' {
  interface FastifyRequest {
    span: Span | undefined;
  }
}

/** One span a request, as the child of the caller's (`traceparent`). Commands and queries become its children. */
export function traceRequests(app: FastifyInstance): void {
  app.decorateRequest('span', undefined);
  app.addHook('onRequest', (request, _reply, done) => {
    const parent = propagation.extract(ROOT_CONTEXT, request.headers);
    const route = request.routeOptions.url ?? 'unknown';
    const attributes = {
      'http.request.method': request.method,
      'http.route': route,
      'castellan.request_id': request.id,
    };
    request.span = tracer.startSpan(`${request.method} ${route}`, { kind: SpanKind.SERVER, attributes }, parent);
    context.with(trace.setSpan(parent, request.span), done);
  });
  app.addHook('onResponse', (request, reply, done) => {
    const { span, principal } = request;
    span?.setAttribute('http.response.status_code', reply.statusCode);
    if (principal) span?.setAttribute('castellan.tenant_id', principal.tenantId);
    if (reply.statusCode >= 500) span?.setStatus({ code: SpanStatusCode.ERROR });
    span?.end();
    done();
  });
}
