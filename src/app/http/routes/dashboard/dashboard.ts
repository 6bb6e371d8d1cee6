import { z } from 'zod';
import { dayDetail, dayDetailView } from '../../../../../queries/dashboard/day-detail.ts';
import { daysAfter, daysBefore, lengthOf, momentsOf, type Days } from '../../../../../queries/dashboard/days.ts';
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
import { FailureError, invalid } from '../../../../platform/kernel/failure.ts';
import type { Query } from '../../../../platform/kernel/query.ts';
import { isDay } from '../../../../../queries/settings/interval.ts';
import { tenantDays } from '../../../../../queries/settings/tenant-days.ts';
import { ZonedDays } from '../../../../platform/time-zones/zoned-days.ts';
import { admin } from '../../access.ts';
import { dateRangeQuery, dayQuery, orderedRange, pageQueryOf, toPage } from '../../list-query.ts';
import { wholeNumberText } from '../../query-types.ts';
import { route, type AnyRoute, type RouteGroup } from '../../route.ts';

const base = '/api/v1/admin/dashboard';
const access = admin('overview:read');
const MAX_DAYS = 90;
const MAX_USERS = 50;

const wholeNumber = (maximum: number, usual: number) =>
  wholeNumberText({ minimum: 1, maximum, usual }).optional().default(usual);

/** Choice OP-242. */
const range = { ...dateRangeQuery, days: wholeNumber(MAX_DAYS, 30) };
const limit = { limit: wholeNumber(MAX_USERS, 10) };
const rangeQuery = z.object(range).check(orderedRange);
const topQuery = z.object({ ...range, ...limit }).check(orderedRange);

interface Asked {
  readonly start_date?: string | undefined;
  readonly end_date?: string | undefined;
  readonly days: number;
}

const dayIn = (zone: ZonedDays, end: string): string => (isDay(end) ? end : zone.dayOf(Date.parse(end)));

/**
 * The requested days, in the tenant's time zone; a moment names the day that it lies in. They end today unless an end
 * is given; an explicit range overrides `days`.
 */
function daysOf(zone: ZonedDays, { start_date, end_date, days }: Asked): Days {
  const today = zone.dayOf(Date.now());
  const from = start_date && dayIn(zone, start_date);
  const to =
    (end_date && dayIn(zone, end_date)) ??
    (from === undefined ? today : [today, daysAfter(from, MAX_DAYS - 1)].toSorted()[0]!);
  const asked = { from: from ?? daysBefore(to, days - 1), to, zone };
  if (asked.from > asked.to) throw new FailureError(invalid('start_date', 'must not be in the future'));
  if (lengthOf(asked) > MAX_DAYS)
    throw new FailureError(invalid('start_date', `a range may span at most ${MAX_DAYS} days`));
  return asked;
}

/** What was counted: whole days, although a moment may name one (decision 0080). Both ends inclusive. */
const counted = { timezone: z.string(), from: z.iso.datetime(), to: z.iso.datetime() };
function countedIn(days: Days): z.output<z.ZodObject<typeof counted>> {
  const { from, until } = momentsOf(days);
  return { timezone: days.zone.zone, from, to: new Date(Date.parse(until) - 1).toISOString() };
}

const WHOLE_DAYS = 'Counts whole days: a time means the day that it lies in. `from` and `to` say what was counted.';
/** Decision 0080. */
const COUNTED =
  "Days are those of the tenant's time zone. Reports of deleted employees and alerts of erased persons count here, and are not listed.";

const series = (
  path: string,
  summary: string,
  point: z.ZodType,
  query: Query<Days, object>,
  { description = COUNTED, inUtc = false }: { readonly description?: string; readonly inUtc?: boolean } = {},
): AnyRoute =>
  route({
    method: 'GET',
    path: `${base}/${path}`,
    access,
    summary,
    description: `${WHOLE_DAYS} ${description}`,
    query: rangeQuery,
    response: z.object({ ...counted, trend: z.array(point) }),
    handle: async ({ ask, query: asked }) => {
      const days = daysOf(inUtc ? new ZonedDays('UTC') : await ask(tenantDays, undefined), asked);
      return { ...countedIn(days), ...(await ask(query, days)) };
    },
  });

const top = (
  path: string,
  summary: string,
  response: z.ZodRawShape,
  query: Query<Days & { limit: number }, object>,
): AnyRoute =>
  route({
    method: 'GET',
    path: `${base}/${path}`,
    access,
    summary,
    description: WHOLE_DAYS,
    query: topQuery,
    response: z.object({ ...counted, ...response }),
    handle: async ({ ask, query: asked }) => {
      const days = daysOf(await ask(tenantDays, undefined), asked);
      return { ...countedIn(days), ...(await ask(query, { ...days, limit: asked.limit })) };
    },
  });

const users = { users: z.array(topUserView) };

/** Dashboard figures (interface, "Dashboard analytics"), from daily counters that are updated as events arrive. */
export const dashboardRoutes: RouteGroup = {
  area: 'dashboard',
  routes: [
    top(
      'top-users-new-sites',
      'List employees with the most visits to sites that were new to them',
      users,
      topUsersByNewSites,
    ),
    top('top-users-warnings', 'List employees with the most warnings', users, topUsersByWarnings),
    top(
      'top-alert-types',
      'List the most frequent alert types',
      { alertTypes: z.array(topAlertTypeView) },
      topAlertTypes,
    ),
    top('top-users-pwned', 'List employees with the most breached passwords', users, topUsersByBreachedPasswords),
    series('trends', 'Get activity by day', trendView, trends),
    route({
      method: 'GET',
      path: `${base}/policy-deployment`,
      access,
      summary: 'Get how many devices have the current policies',
      response: policyDeploymentView,
      handle: ({ ask }) => ask(policyDeployment, undefined),
    }),
    series(
      'policy-deployment-trend',
      'Get how many devices had the current policies, by day',
      deploymentPointView,
      policyDeploymentTrend,
      {
        description: 'Counts the devices with a heartbeat on that day. The days of this chart are UTC days.',
        inUtc: true,
      },
    ),
    series(
      'new-sites-trend',
      'Get visits to new sites by day',
      z.object({ date: z.iso.date(), count: z.int() }),
      newSitesTrend,
    ),
    route({
      method: 'GET',
      path: `${base}/day-detail`,
      access,
      summary: 'Get the figures of one day',
      description: `${COUNTED} A page of \`newSites\` has 100 hosts.`,
      query: z.object({ date: dayQuery, ...pageQueryOf({ usual: 100, max: 100 }) }),
      response: dayDetailView.extend({ timezone: z.string() }),
      handle: async ({ ask, query }) => {
        const zone = await ask(tenantDays, undefined);
        const detail = await ask(dayDetail, { date: dayIn(zone, query.date), zone, ...toPage(query) });
        return { timezone: zone.zone, ...detail };
      },
    }),
  ],
};
