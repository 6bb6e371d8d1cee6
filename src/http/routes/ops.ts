import { createHash, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { checkHealth } from '../../health.ts';
import { FailureError, unauthenticated } from '../../kernel/failure.ts';
import { registry } from '../../metrics.ts';
import { open } from '../access.ts';
import { route, type RouteGroup } from '../route.ts';

const status = z.enum(['healthy', 'degraded', 'unhealthy']);
const healthView = z.object({
  status,
  version: z.string(),
  uptime_seconds: z.int(),
  timestamp: z.iso.datetime(),
  dependencies: z.record(
    z.string(),
    z.object({ name: z.string(), status, latency_ms: z.number(), last_check: z.iso.datetime(), message: z.string().optional() }),
  ),
});

const sha256 = (text: string) => createHash('sha256').update(text).digest();

export const opsRoutes: RouteGroup = {
  area: 'ops',
  routes: [
    route({
      method: 'GET',
      path: '/health',
      access: open('none'),
      summary: 'Whether the service works, and each thing that it depends on',
      answer: healthView,
      handle: async ({ services, reply }) => {
        const health = await checkHealth(services.probes);
        if (health.status === 'unhealthy') reply.status(503);
        return health;
      },
    }),
    route({
      method: 'GET',
      path: '/ready',
      access: open('none'),
      summary: 'Whether requests should be sent here',
      answer: z.object({ status, ready: z.boolean(), lagging: z.array(z.string()) }),
      handle: async ({ services, reply }) => {
        const health = await checkHealth(services.probes);
        const lagging = await services.laggingModels();
        const ready = Object.values(health.dependencies).every((dependency) => dependency.status !== 'unhealthy') && lagging.length === 0;
        if (!ready) reply.status(503);
        return { status: health.status, ready, lagging };
      },
    }),
    route({
      method: 'GET',
      path: '/metrics',
      access: open('none'),
      summary: 'Prometheus metrics',
      answer: { media: 'text/plain; version=0.0.4' },
      handle: async ({ services, request, reply }) => {
        const { metricsToken } = services.config;
        const given = request.headers.authorization?.replace(/^bearer /i, '') ?? '';
        if (metricsToken && !timingSafeEqual(sha256(given), sha256(metricsToken))) throw new FailureError(unauthenticated());
        await services.measure();
        reply.type(registry.contentType);
        return registry.metrics();
      },
    }),
  ],
};
