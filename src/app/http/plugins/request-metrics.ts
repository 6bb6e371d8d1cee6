import type { FastifyInstance } from 'fastify';
import { Counter, Histogram } from 'prom-client';
import { registry } from '../../../platform/observability/metrics.ts';

const duration = new Histogram({
  name: 'castellan_http_request_duration_seconds',
  help: 'Time to answer, by method, route template and status',
  labelNames: ['method', 'route', 'status'] as const,
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
  registers: [registry],
});
const refused = new Counter({
  name: 'castellan_http_rate_limited_total',
  help: 'Requests refused because a budget was used up',
  registers: [registry],
});

/** The route's template is the label, never the address: an attacker must not be able to grow the registry. */
export function countRequests(app: FastifyInstance): void {
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'unknown';
    duration.labels(request.method, route, String(reply.statusCode)).observe(reply.elapsedTime / 1000);
    if (reply.statusCode === 429) refused.inc();
  });
}
