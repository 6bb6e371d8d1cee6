import { createHash, timingSafeEqual } from 'node:crypto';
import { Gauge } from 'prom-client';
import { z } from 'zod';
import { FailureError, unauthenticated } from '../../../../platform/kernel/failure.ts';
import { registry } from '../../../../platform/observability/metrics.ts';
import { openAccess } from '../../access.ts';
import { routeWith, type RouteGroup } from '../../route.ts';
import type { Config } from '../../../config/config.ts';
import type { ServiceState } from '../../../operations/service-state.ts';

export interface OpsRouteDependencies {
  readonly config: Pick<Config, 'metricsToken'>;
  readonly state: ServiceState;
}

const route = routeWith<OpsRouteDependencies>();

const status = z.enum(['healthy', 'degraded', 'unhealthy']);
const healthView = z.object({
  status,
  version: z.string(),
  uptime_seconds: z.int(),
  timestamp: z.iso.datetime(),
  dependencies: z.record(
    z.string(),
    z.object({
      name: z.string(),
      status,
      latency_ms: z.number(),
      last_check: z.iso.datetime(),
      message: z.string().optional(),
    }),
  ),
});

const measured = new Gauge({
  name: 'castellan_gauges_current',
  help: '0 while gauges of projections, jobs and the feed could not be brought up to date',
  registers: [registry],
});

const sha256 = (text: string) => createHash('sha256').update(text).digest();

export const opsRoutes: RouteGroup<OpsRouteDependencies> = {
  area: 'ops',
  routes: [
    route({
      method: 'GET',
      path: '/health',
      access: openAccess('none'),
      summary: 'Whether the service works, and each thing that it depends on',
      response: healthView,
      handle: async ({ services, reply }) => {
        const health = await services.state.health();
        if (health.status === 'unhealthy') reply.status(503);
        return health;
      },
    }),
    route({
      method: 'GET',
      path: '/live',
      access: openAccess('none'),
      summary: 'Whether the process answers, whatever it depends on: restart it where it does not',
      response: z.object({ status: z.literal('alive') }),
      handle: async () => ({ status: 'alive' as const }),
    }),
    route({
      method: 'GET',
      path: '/ready',
      access: openAccess('none'),
      summary: 'Whether requests should be sent here',
      response: z.object({ status, ready: z.boolean(), lagging: z.array(z.string()), reason: z.string().optional() }),
      handle: async ({ services, reply }) => {
        const readiness = await services.state.readiness();
        if (!readiness.ready) reply.status(503);
        return readiness;
      },
    }),
    route({
      method: 'GET',
      path: '/metrics',
      access: openAccess('none'),
      summary: 'Prometheus metrics',
      response: { media: 'text/plain; version=0.0.4' },
      handle: async ({ services, request, reply }) => {
        const { metricsToken } = services.config;
        const given = request.headers.authorization?.replace(/^bearer /i, '') ?? '';
        if (metricsToken && !timingSafeEqual(sha256(given), sha256(metricsToken)))
          throw new FailureError(unauthenticated());
        measured.set((await services.state.measured()) ? 1 : 0);
        reply.type(registry.contentType);
        return registry.metrics();
      },
    }),
  ],
};
