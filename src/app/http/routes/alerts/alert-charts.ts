import { z } from 'zod';
import { aggregatedAlerts, alertAggregateView } from '../../../../../queries/alerts/aggregated-alerts.ts';
import {
  alertTrend,
  alertTrendBySeverity,
  alertTrendBySeverityView,
  alertTrendView,
} from '../../../../../queries/alerts/alert-trend.ts';
import { triageMetrics, triageMetricsView } from '../../../../../queries/alerts/triage-metrics.ts';
import { securityPosture, securityPostureView } from '../../../../../queries/dashboard/security-posture.ts';
import { intervalOf } from '../../../../../queries/settings/interval.ts';
import { timeframes } from '../../../../contexts/alerts/domain/timeframe.ts';
import { admin } from '../../access.ts';
import { dateRangeQuery, orderedRange, pageQueryOf, paginatedView, toPage } from '../../list-query.ts';
import { route, type RouteGroup } from '../../route.ts';

const base = '/api/v1/admin/alerts';
/** Decision 0080. */
const COUNTED = 'Alerts of erased persons count here, and are not listed.';
const timeframeQuery = z.object({ timeframe: z.enum(timeframes).default('7d') });

/** Alert statistics, counted as alerts arrive (choices OP-082 … OP-084, OP-088). */
export const alertChartRoutes: RouteGroup = {
  area: 'alerts',
  routes: [
    route({
      method: 'GET',
      path: `${base}/trend`,
      access: admin('alerts:read'),
      summary: 'Get the number of alerts over time',
      description: `By day in the tenant's time zone, or by hour for the timeframe \`24h\`. The present day or hour is one of them, so \`from\` is later than that of the triage metrics, which reach back by the whole timeframe. ${COUNTED}`,
      query: timeframeQuery,
      response: alertTrendView,
      handle: ({ ask, query: { timeframe } }) => ask(alertTrend, { timeframe, now: Date.now() }),
    }),
    route({
      method: 'GET',
      path: `${base}/trend/by-severity`,
      access: admin('alerts:read'),
      summary: 'Get the number of alerts over time by severity',
      description: `By day in the tenant's time zone, or by hour for the timeframe \`24h\`. Alerts count under their current severity. ${COUNTED}`,
      query: timeframeQuery,
      response: alertTrendBySeverityView,
      handle: ({ ask, query: { timeframe } }) => ask(alertTrendBySeverity, { timeframe, now: Date.now() }),
    }),
    route({
      method: 'GET',
      path: `${base}/aggregated`,
      access: admin('alerts:read'),
      summary: 'List alerts grouped by type and domain',
      operation: 'listAlertGroups',
      description: 'The alerts raised in the interval. Latest occurrence first, 500 groups on a page.',
      query: z.object({ ...dateRangeQuery, ...pageQueryOf({ usual: 500, max: 500 }) }).check(orderedRange),
      response: z.object({ aggregates: z.array(alertAggregateView), ...paginatedView }),
      handle: async ({ ask, query }) => ask(aggregatedAlerts, { ...(await ask(intervalOf, query)), ...toPage(query) }),
    }),
    route({
      method: 'GET',
      path: `${base}/triage-metrics`,
      access: admin('alerts:read'),
      summary: 'Get triage metrics',
      description: `Mean times in seconds and rates from 0 to 1, for alerts raised between \`from\` and \`to\`. ${COUNTED}`,
      query: timeframeQuery,
      response: triageMetricsView,
      handle: ({ ask, query: { timeframe } }) => ask(triageMetrics, { timeframe, now: Date.now() }),
    }),
    route({
      method: 'GET',
      path: '/api/v1/admin/security-posture',
      access: admin('overview:read'),
      summary: 'Get the security posture score of the tenant',
      description: 'The score, its grade, and the weighted categories it is computed from.',
      response: securityPostureView,
      handle: ({ ask }) => ask(securityPosture, { now: Date.now() }),
    }),
  ],
};
