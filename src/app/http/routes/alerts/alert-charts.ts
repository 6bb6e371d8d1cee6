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

/** Figures about alerts, counted as they arrive (choices OP-082 … OP-084, OP-088). */
export const alertChartRoutes: RouteGroup = {
  area: 'alerts',
  routes: [
    route({
      method: 'GET',
      path: `${base}/trend`,
      access: admin('alerts:read'),
      summary: 'How many alerts were raised, by day or by hour',
      query: timeframeQuery,
      response: alertTrendView,
      handle: ({ ask, query: { timeframe } }) => ask(alertTrend, { timeframe, now: Date.now() }),
    }),
    route({
      method: 'GET',
      path: `${base}/trend/by-severity`,
      access: admin('alerts:read'),
      summary: 'How many alerts were raised, by day or by hour and by severity as it is now',
      query: timeframeQuery,
      response: alertTrendBySeverityView,
      handle: ({ ask, query: { timeframe } }) => ask(alertTrendBySeverity, { timeframe, now: Date.now() }),
    }),
    route({
      method: 'GET',
      path: `${base}/aggregated`,
      access: admin('alerts:read'),
      summary: 'Alerts of the same type on the same domain, together, the latest first',
      query: z.object(dateRangeQuery).refine(isOrderedRange, rangeOrderIssue),
      response: z.object({ aggregates: z.array(alertAggregateView), total: z.int() }),
      handle: ({ ask, query }) => ask(aggregatedAlerts, { from: query.start_date, to: query.end_date }),
    }),
    route({
      method: 'GET',
      path: `${base}/triage-metrics`,
      access: admin('alerts:read'),
      summary: 'How fast alerts are acknowledged and closed, and how many',
      query: timeframeQuery,
      response: triageMetricsView,
      handle: ({ ask, query: { timeframe } }) => ask(triageMetrics, { timeframe, now: Date.now() }),
    }),
    route({
      method: 'GET',
      path: '/api/v1/admin/security-posture',
      access: admin('overview:read'),
      summary: 'A score for how well the tenant is protected, and what it is made of',
      response: securityPostureView,
      handle: ({ ask }) => ask(securityPosture, { now: Date.now() }),
    }),
  ],
};
