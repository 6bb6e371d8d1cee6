import type { FastifyInstance } from 'fastify';
import { Counter, Histogram } from 'prom-client';
import { registry } from '../../../platform/observability/metrics.ts';

const duration = new Histogram({
  name: 'castellan_http_request_duration_seconds',
  help: 'Response time in seconds, by method, route template and status',
  labelNames: ['method', 'route', 'status'] as const,
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
  registers: [registry],
});
const refused = new Counter({
  name: 'castellan_http_rate_limited_total',
  help: 'Requests refused with 429',
  registers: [registry],
});

/** `method`: of HTTP, or `unknown`. It took no time that would be worth a mention. */
export const observeEarlyRefusal = (method: string, status: number): void => {
  duration.labels(method, 'unknown', String(status)).observe(0);
  if (status === 429) refused.inc();
};

/** The label is the route template, never the URL, so that an attacker cannot grow the registry. */
export function countRequests(app: FastifyInstance): void {
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'unknown';
    duration.labels(request.method, route, String(reply.statusCode)).observe(reply.elapsedTime / 1000);
    if (reply.statusCode === 429) refused.inc();
  });
}
