import { createHash, timingSafeEqual } from 'node:crypto';
import { Gauge } from 'prom-client';
import { z } from 'zod';
import { FailureError, unauthenticated } from '../../../../platform/kernel/failure.ts';
import { registry } from '../../../../platform/observability/metrics.ts';
import { openAccess } from '../../access.ts';
import { routeWith, type RouteGroup } from '../../route.ts';
import type { Config } from '../../../config/config.ts';
import type { ServiceState } from '../../../operations/service-state.ts';
import type { ResponseHead } from '../../response-head.ts';
import { RETRY_AFTER_SECONDS } from '../../../../platform/kernel/failure.ts';

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
  help: '0 if gauges of projections, jobs and the event log could not be updated and show old values',
  registers: [registry],
});

const sha256 = (text: string) => createHash('sha256').update(text).digest();

const readinessView = z.object({
  status,
  ready: z.boolean(),
  lagging: z.array(z.string()),
  reason: z.string().optional(),
});

const refuseForNow = (reply: ResponseHead): void => void reply.status(503).header('retry-after', RETRY_AFTER_SECONDS);

export const opsRoutes: RouteGroup<OpsRouteDependencies> = {
  area: 'ops',
  routes: [
    route({
      method: 'GET',
      path: '/health',
      access: openAccess('none'),
      summary: 'Get the health of the service and its dependencies',
      otherwise: { 503: healthView },
      description: '503 if the service is unhealthy.',
      response: healthView,
      handle: async ({ services, reply }) => {
        const health = await services.state.health();
        if (health.status === 'unhealthy') refuseForNow(reply);
        return health;
      },
    }),
    route({
      method: 'GET',
      path: '/live',
      access: openAccess('none'),
      summary: 'Check that the process is alive',
      description: 'Checks no dependencies. Restart the process if there is no response.',
      response: z.object({ status: z.literal('alive') }),
      handle: async () => ({ status: 'alive' as const }),
    }),
    route({
      method: 'GET',
      path: '/ready',
      access: openAccess('none'),
      summary: 'Check that the process is ready for requests',
      otherwise: { 503: readinessView },
      description:
        '503 if it is not, with the read models that lag behind the event log, or with the reason if their progress is unknown or the log is in doubt.',
      response: readinessView,
      handle: async ({ services, reply }) => {
        const readiness = await services.state.readiness();
        if (!readiness.ready) refuseForNow(reply);
        return readiness;
      },
    }),
    route({
      method: 'GET',
      path: '/metrics',
      access: openAccess('none'),
      summary: 'Get Prometheus metrics',
      description: '401 if METRICS_TOKEN is set and is not sent as bearer token.',
      refuses: ['authentication_required'],
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
