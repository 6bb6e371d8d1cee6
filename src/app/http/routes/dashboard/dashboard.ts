import { z } from 'zod';
import { dayDetail, dayDetailView } from '../../../../../queries/dashboard/day-detail.ts';
import { daysAfter, daysBefore, lengthOf, type Days } from '../../../../../queries/dashboard/days.ts';
import {
  deploymentPointView,
  policyDeployment,
  policyDeploymentTrend,
  policyDeploymentView,
} from '../../../../../queries/dashboard/policy-deployment.ts';
import { topAlertTypes, topAlertTypeView } from '../../../../../queries/dashboard/top-alert-types.ts';
import {
  topUsersByBreachedPasswords,
  topUsersByNewSites,
  topUsersByWarnings,
  topUserView,
} from '../../../../../queries/dashboard/top-users.ts';
import { newSitesTrend, trends, trendView } from '../../../../../queries/dashboard/trends.ts';
import { dayOf } from '../../../../platform/kernel/read-model.ts';
import { FailureError, invalid } from '../../../../platform/kernel/failure.ts';
import type { Query } from '../../../../platform/kernel/query.ts';
import { admin } from '../../access.ts';
import { dateRangeQuery, isOrderedRange, rangeOrderIssue } from '../../list-query.ts';
import { route, type AnyRoute, type RouteGroup } from '../../route.ts';

const base = '/api/v1/admin/dashboard';
const access = admin('overview:read');
const MAX_DAYS = 90;
const MAX_USERS = 50;

const wholeNumber = (most: number, usual: number) =>
  z
    .string()
    .regex(/^[1-9]\d{0,2}$/, `must be a whole number from 1 to ${most}`)
    .transform(Number)
    .pipe(z.number().max(most))
    .optional()
    .default(usual);

/** Choice OP-242. */
const range = { ...dateRangeQuery, days: wholeNumber(MAX_DAYS, 30) };
const limit = { limit: wholeNumber(MAX_USERS, 10) };
const rangeQuery = z.object(range).refine(isOrderedRange, rangeOrderIssue);
const topQuery = z.object({ ...range, ...limit }).refine(isOrderedRange, rangeOrderIssue);

interface Asked {
  readonly start_date?: string | undefined;
  readonly end_date?: string | undefined;
  readonly days: number;
}

/** The days that were asked for: up to today unless an end is named; a range counts as many days as it spans. */
function daysOf({ start_date, end_date, days }: Asked): Days {
  const today = dayOf(Date.now());
  const from = start_date?.slice(0, 10);
  const to =
    end_date?.slice(0, 10) ?? (from === undefined ? today : [today, daysAfter(from, MAX_DAYS - 1)].toSorted()[0]!);
  const asked = { from: from ?? daysBefore(to, days - 1), to };
  if (asked.from > asked.to) throw new FailureError(invalid('start_date', 'must not lie in the future'));
  if (lengthOf(asked) > MAX_DAYS) throw new FailureError(invalid('start_date', `a range may span ${MAX_DAYS} days`));
  return asked;
}

const series = (path: string, summary: string, point: z.ZodType, query: Query<Days, object>): AnyRoute =>
  route({
    method: 'GET',
    path: `${base}/${path}`,
    access,
    summary,
    query: rangeQuery,
    response: z.object({ trend: z.array(point) }),
    handle: ({ ask, query: asked }) => ask(query, daysOf(asked)),
  });

const top = (
  path: string,
  summary: string,
  answer: z.ZodType,
  query: Query<Days & { limit: number }, object>,
): AnyRoute =>
  route({
    method: 'GET',
    path: `${base}/${path}`,
    access,
    summary,
    query: topQuery,
    response: answer,
    handle: ({ ask, query: asked }) => ask(query, { ...daysOf(asked), limit: asked.limit }),
  });

const users = z.object({ users: z.array(topUserView) });

/** Figures for a first look (interface, "Dashboard analytics"), each from counters of days that were summed as events came. */
export const dashboardRoutes: RouteGroup = {
  area: 'dashboard',
  routes: [
    top(
      'top-users-new-sites',
      'Employees with the most visits to sites that were new to them',
      users,
      topUsersByNewSites,
    ),
    top('top-users-warnings', 'Employees with the most warnings', users, topUsersByWarnings),
    top(
      'top-alert-types',
      'The most frequent types of alerts',
      z.object({ alertTypes: z.array(topAlertTypeView) }),
      topAlertTypes,
    ),
    top('top-users-pwned', 'Employees with the most passwords known from breaches', users, topUsersByBreachedPasswords),
    series('trends', 'Activity by day', trendView, trends),
    route({
      method: 'GET',
      path: `${base}/policy-deployment`,
      access,
      summary: 'How far policies have reached devices',
      response: policyDeploymentView,
      handle: ({ ask }) => ask(policyDeployment, undefined),
    }),
    series(
      'policy-deployment-trend',
      'How far policies had reached devices, by day',
      deploymentPointView,
      policyDeploymentTrend,
    ),
    series(
      'new-sites-trend',
      'Visits to new sites by day',
      z.object({ date: z.iso.date(), count: z.int() }),
      newSitesTrend,
    ),
    route({
      method: 'GET',
      path: `${base}/day-detail`,
      access,
      summary: 'One day in figures',
      query: z.object({ date: dateRangeQuery.start_date.unwrap() }),
      response: dayDetailView,
      handle: ({ ask, query: { date } }) => ask(dayDetail, { date: date.slice(0, 10) }),
    }),
  ],
};
