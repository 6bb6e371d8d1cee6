import { z } from 'zod';
import {
  listObservations,
  observationOrder,
  observationView,
  type ObservationFilter,
} from '../../../../../queries/telemetry/list-observations.ts';
import { telemetryStats, telemetryStatsView } from '../../../../../queries/telemetry/telemetry-stats.ts';
import { intervalOf } from '../../../../../queries/settings/interval.ts';
import { hostField } from '../../../../platform/web-addresses/host-field.ts';
import { uuid } from '../../../../platform/kernel/ids.ts';
import { admin } from '../../access.ts';
import { keysetQuery, keysetView, withNextMark } from '../../keyset-query.ts';
import { dateRangeQuery, orderedRange, toPage } from '../../list-query.ts';
import { route, type AnyRoute, type RouteGroup } from '../../route.ts';

const base = '/api/v1/admin/events';

const list = (path: string, kind: ObservationFilter['kind'], summary: string): AnyRoute =>
  route({
    method: 'GET',
    path: `${base}/${path}`,
    access: admin('events:read'),
    summary,
    description:
      'Latest first. `total` counts up to 10,000: from there on, `totalIsLowerBound` is true, and the statistics have the exact figures. Every event can be reached with `cursor`.',
    query: z
      .object({
        ...keysetQuery(observationOrder),
        ...dateRangeQuery,
        user_id: uuid().optional(),
        device_id: uuid().optional(),
        domain: hostField().optional(),
      })
      .check(orderedRange),
    response: z.object({ events: z.array(observationView), ...keysetView }),
    handle: async ({ ask, query }) => {
      const { user_id: userId, device_id: deviceId, domain } = query;
      const filter = { kind, userId, deviceId, domain, ...(await ask(intervalOf, query)) };
      return withNextMark(observationOrder, await ask(listObservations, { ...toPage(query), ...filter }));
    },
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
      description:
        "What was reported of the interval, in whole quarters of an hour: `from` and `to` say which. Days are those of the tenant's time zone. Events of deleted employees and events past their retention count here, and are not listed.",
      query: z.object(dateRangeQuery).check(orderedRange),
      response: telemetryStatsView,
      handle: async ({ ask, query }) => ask(telemetryStats, await ask(intervalOf, query)),
    }),
    list('navigation', 'navigation', 'List visited pages'),
    list('credential-attempts', 'credential_attempt', 'List password entries, without the passwords'),
    list('auth-flow', 'auth_flow', 'List observed sign-ins'),
  ],
};
