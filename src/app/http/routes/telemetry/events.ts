import { z } from 'zod';
import {
  listObservations,
  observationView,
  type ObservationFilter,
} from '../../../../../queries/telemetry/list-observations.ts';
import { telemetryStats, telemetryStatsView } from '../../../../../queries/telemetry/telemetry-stats.ts';
import { hostField } from '../../../../platform/web-addresses/host-field.ts';
import { uuid } from '../../../../platform/kernel/ids.ts';
import { admin } from '../../access.ts';
import { dateRangeQuery, isOrderedRange, rangeOrderIssue, pageQuery, paginatedView, toPage } from '../../list-query.ts';
import { route, type AnyRoute, type RouteGroup } from '../../route.ts';

const base = '/api/v1/admin/events';

const list = (path: string, kind: ObservationFilter['kind'], summary: string): AnyRoute =>
  route({
    method: 'GET',
    path: `${base}/${path}`,
    access: admin('events:read'),
    summary,
    description: 'Latest first. `total` counts up to 10,000; for exact figures see the statistics.',
    query: z
      .object({
        ...pageQuery,
        ...dateRangeQuery,
        user_id: uuid().optional(),
        device_id: uuid().optional(),
        domain: hostField().optional(),
      })
      .refine(isOrderedRange, rangeOrderIssue),
    response: z.object({ events: z.array(observationView), ...paginatedView }),
    handle: ({ ask, query }) =>
      ask(listObservations, {
        ...toPage(query),
        kind,
        userId: query.user_id,
        deviceId: query.device_id,
        domain: query.domain,
        from: query.start_date,
        to: query.end_date,
      }),
  });

/** The events that browsers reported (interface, "Event viewer"). */
export const eventRoutes: RouteGroup = {
  area: 'event-viewer',
  routes: [
    route({
      method: 'GET',
      path: `${base}/stats`,
      access: admin('events-stats:read'),
      summary: 'Count telemetry by kind and day',
      query: z.object(dateRangeQuery).refine(isOrderedRange, rangeOrderIssue),
      response: telemetryStatsView,
      handle: ({ ask, query }) => ask(telemetryStats, { from: query.start_date, to: query.end_date }),
    }),
    list('navigation', 'navigation', 'List visited pages'),
    list('credential-attempts', 'credential_attempt', 'List password entries, without the passwords'),
    list('auth-flow', 'auth_flow', 'List observed sign-ins'),
  ],
};
