import type { FastifyInstance } from 'fastify';
import { Counter, Histogram } from 'prom-client';
import { registry } from '../../../platform/observability/metrics.ts';

const duration = new Histogram({
  name: 'castellan_http_request_duration_seconds',
  help: 'Response time in seconds, by method and route template',
  labelNames: ['method', 'route'] as const,
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
  registers: [registry],
});
/** Without the status in the histogram: each of its labels costs a dozen time series for each route. */
const requests = new Counter({
  name: 'castellan_http_requests_total',
  help: 'Requests, by method, route template and status',
  labelNames: ['method', 'route', 'status'] as const,
  registers: [registry],
});
const refused = new Counter({
  name: 'castellan_http_rate_limited_total',
  help: 'Requests refused with 429',
  registers: [registry],
});

/** `method`: of HTTP, or `unknown`. The refusal took no time that would be worth a mention. */
export const observeEarlyRefusal = (method: string, status: number): void => {
  requests.labels(method, 'unknown', String(status)).inc();
  if (status === 429) refused.inc();
};

/** The label is the route template, never the URL, so that an attacker cannot grow the registry. */
export function countRequests(app: FastifyInstance): void {
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'unknown';
    requests.labels(request.method, route, String(reply.statusCode)).inc();
    duration.labels(request.method, route).observe(reply.elapsedTime / 1000);
    if (reply.statusCode === 429) refused.inc();
  });
}
