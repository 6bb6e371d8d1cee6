import { z } from 'zod';
import { getAlert } from '../../../../../queries/alerts/get-alert.ts';
import { FailureError, orThrow, temporarilyUnavailable, unavailable } from '../../../../platform/kernel/failure.ts';
import { uuid, type TenantId } from '../../../../platform/kernel/ids.ts';
import { alertForwarding, forwardAlert } from '../../../../contexts/alerts/forward-alert.ts';
import { PortalUnavailable, type Portal } from '../../../../contexts/alerts/portal.ts';
import { admin } from '../../access.ts';
import { actorOf } from '../../principal.ts';
import { routeWith, type RouteGroup } from '../../route.ts';
import type { Logger } from 'pino';
import type { Executor } from '../../../../platform/execution/executor.ts';
import type { CommandPorts } from '../../../../../commands/ports.ts';
import type { Freshness } from '../../../../platform/projector/freshness.ts';
import type { Jobs } from '../../../../platform/jobs/jobs.ts';
import type { TenantReads } from '../../../../platform/kernel/query.ts';

export interface PortalRouteDependencies {
  readonly log: Logger;
  readonly executor: Executor<CommandPorts>;
  readonly freshness: Freshness;
  readonly jobs: Jobs;
  readonly portal: Portal;
  reads(tenantId: TenantId): TenantReads;
}

const route = routeWith<PortalRouteDependencies>();

const RETRY_MS = 60_000;

/** The central portal: its status, and forwarding of alerts to it (choices OP-085, OP-086). */
export const portalRoutes: RouteGroup<PortalRouteDependencies> = {
  area: 'alerts',
  routes: [
    route({
      method: 'POST',
      path: '/api/v1/admin/alerts/{alertID}/forward',
      access: admin('alerts:write'),
      summary: 'Forward an alert to the central portal',
      refuses: ['portal_unavailable', 'portal_not_configured'],
      description:
        '503 if the portal is not configured or cannot be reached. If it cannot be reached, the service retries later.',
      params: z.object({ alertID: uuid() }),
      response: z.object({ forwarded: z.literal(true), forwardedAt: z.iso.datetime(), portalAlertId: z.string() }),
      handle: async ({ ask, principal, services, request, fresh, params: { alertID: alertId } }) => {
        await ask(getAlert, { alertId });
        if (!services.portal.isConfigured) throw new FailureError(unavailable('portal_not_configured'));
        const { tenantId } = principal;
        const deliveryId = fresh.id('delivery');
        const issuer = {
          tenantId,
          actor: actorOf(principal, request),
          correlationId: request.id,
        };
        try {
          const { portalAlertId, position } = orThrow(await forwardAlert(services, { alertId, deliveryId }, issuer));
          if (position !== undefined) await services.freshness.waitFor(['alerts'], position);
          const { forwardedAt } = await ask(getAlert, { alertId });
          return { forwarded: true, forwardedAt: forwardedAt ?? new Date().toISOString(), portalAlertId };
        } catch (error) {
          if (!(error instanceof PortalUnavailable)) throw error;
          services.log.warn(
            { tenantId, alertId, reason: error.message },
            'the portal is unavailable: the alert will be forwarded later',
          );
          await services.jobs.enqueue(
            alertForwarding,
            { tenantId, alertId, deliveryId },
            { id: deliveryId, delayMs: RETRY_MS, correlationId: request.id },
          );
          throw new FailureError(temporarilyUnavailable('portal_unavailable'));
        }
      },
    }),
    route({
      method: 'GET',
      path: '/api/v1/admin/portal/status',
      access: admin('portal:read'),
      summary: 'Get the status of the central portal',
      description: 'Whether the portal is configured and reachable.',
      response: z.object({
        configured: z.boolean(),
        connected: z.boolean(),
        portalUrl: z.string().nullable(),
        lastCheckedAt: z.iso.datetime().nullable(),
        lastError: z.string().nullable(),
      }),
      handle: ({ services }) => services.portal.status(),
    }),
  ],
};
