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
import { timeframes } from '../../../../contexts/alerts/domain/timeframe.ts';
import { admin } from '../../access.ts';
import { dateRangeQuery, isOrderedRange, rangeOrderIssue } from '../../list-query.ts';
import { route, type RouteGroup } from '../../route.ts';

const base = '/api/v1/admin/alerts';
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
      description: 'By UTC day, or by hour for the timeframe `24h`.',
      query: timeframeQuery,
      response: alertTrendView,
      handle: ({ ask, query: { timeframe } }) => ask(alertTrend, { timeframe, now: Date.now() }),
    }),
    route({
      method: 'GET',
      path: `${base}/trend/by-severity`,
      access: admin('alerts:read'),
      summary: 'Get the number of alerts over time by severity',
      description: 'By UTC day, or by hour for the timeframe `24h`. Alerts count under their current severity.',
      query: timeframeQuery,
      response: alertTrendBySeverityView,
      handle: ({ ask, query: { timeframe } }) => ask(alertTrendBySeverity, { timeframe, now: Date.now() }),
    }),
    route({
      method: 'GET',
      path: `${base}/aggregated`,
      access: admin('alerts:read'),
      summary: 'List alerts grouped by type and domain',
      description: 'Latest first, at most 500 groups.',
      query: z.object(dateRangeQuery).refine(isOrderedRange, rangeOrderIssue),
      response: z.object({ aggregates: z.array(alertAggregateView), total: z.int() }),
      handle: ({ ask, query }) => ask(aggregatedAlerts, { from: query.start_date, to: query.end_date }),
    }),
    route({
      method: 'GET',
      path: `${base}/triage-metrics`,
      access: admin('alerts:read'),
      summary: 'Get triage metrics',
      description: 'Mean times in seconds and rates from 0 to 1, for alerts raised in the timeframe.',
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
