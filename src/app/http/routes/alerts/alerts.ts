import { z } from 'zod';
import { acknowledgeAlert } from '../../../../../commands/alerts/acknowledge-alert.ts';
import { assignAlert } from '../../../../../commands/alerts/assign-alert.ts';
import { changeAlertSeverity } from '../../../../../commands/alerts/change-alert-severity.ts';
import { claimAlert } from '../../../../../commands/alerts/claim-alert.ts';
import { ruleBetween } from '../../../../platform/kernel/rule-between.ts';
import { recordAlertPolicyAction } from '../../../../../commands/alerts/record-alert-policy-action.ts';
import { reopenAlert } from '../../../../../commands/alerts/reopen-alert.ts';
import { resolveAlert } from '../../../../../commands/alerts/resolve-alert.ts';
import { alertStats } from '../../../../../queries/alerts/alert-stats.ts';
import { alertView } from '../../../../../queries/alerts/alert-view.ts';
import { getAlert } from '../../../../../queries/alerts/get-alert.ts';
import { alertOrder, listAlerts } from '../../../../../queries/alerts/list-alerts.ts';
import { relatedAlerts } from '../../../../../queries/alerts/related-alerts.ts';
import { intervalOf } from '../../../../../queries/settings/interval.ts';
import {
  alertStatuses,
  alertTypeSchema,
  policyActionSchema,
  namesPolicy,
  severitySchema,
} from '../../../../contexts/alerts/domain/vocabulary.ts';
import { uuid } from '../../../../platform/kernel/ids.ts';
import { admin } from '../../access.ts';
import { keysetQuery, keysetView, withNextMark } from '../../keyset-query.ts';
import { dateRangeQuery, orderedRange, pageQueryOf, paginatedView, toPage } from '../../list-query.ts';
import { route, type RouteGroup } from '../../route.ts';
import { nameField } from '../../../../platform/kernel/name-field.ts';

const base = '/api/v1/admin/alerts';
const params = z.object({ alertID: uuid() });
const longText = z.string().max(4_000);
const counters = z.record(z.string(), z.int());

export const alertRoutes: RouteGroup = {
  area: 'alerts',
  routes: [
    route({
      method: 'GET',
      path: base,
      access: admin('alerts:read'),
      summary: 'List alerts',
      description: 'Newest first.',
      query: z
        .object({
          ...keysetQuery(alertOrder),
          ...dateRangeQuery,
          severity: severitySchema.optional(),
          alert_type: alertTypeSchema.optional(),
          status: z.enum(alertStatuses).optional(),
        })
        .check(orderedRange),
      response: z.object({ alerts: z.array(alertView), ...keysetView }),
      handle: async ({ ask, query }) => {
        const { severity, alert_type: alertType, status } = query;
        const filter = { severity, alertType, status, ...(await ask(intervalOf, query)) };
        return withNextMark(alertOrder, await ask(listAlerts, { ...toPage(query), ...filter }));
      },
    }),
    route({
      method: 'GET',
      path: `${base}/stats`,
      access: admin('alerts:read'),
      summary: 'Count alerts by status, severity and type',
      query: z.object(dateRangeQuery).check(orderedRange),
      response: z.object({
        total: z.int(),
        open: z.int(),
        acknowledged: z.int(),
        resolved: z.int(),
        falsePositive: z.int(),
        unassigned: z.int(),
        bySeverity: counters,
        byType: counters,
      }),
      handle: async ({ ask, query }) => ask(alertStats, await ask(intervalOf, query)),
    }),
    route({
      method: 'GET',
      path: `${base}/{alertID}`,
      access: admin('alerts:read'),
      summary: 'Get an alert',
      params,
      response: alertView,
      handle: ({ ask, params: { alertID } }) => ask(getAlert, { alertId: alertID }),
    }),
    route({
      method: 'GET',
      path: `${base}/{alertID}/related`,
      access: admin('alerts:read'),
      summary: 'List related alerts',
      operation: 'listRelatedAlerts',
      description:
        'Alerts of the same user, domain or device within seven days before or after, with the reasons. Newest first, 50 on a page.',
      params,
      query: z.object(pageQueryOf({ usual: 50, max: 100 })),
      response: z.object({
        alerts: z.array(alertView.extend({ reasons: z.array(z.string()) })),
        ...paginatedView,
      }),
      handle: ({ ask, params: { alertID }, query }) => ask(relatedAlerts, { alertId: alertID, ...toPage(query) }),
    }),
    route({
      method: 'PUT',
      path: `${base}/{alertID}/acknowledge`,
      access: admin('alerts:write'),
      summary: 'Acknowledge an open alert',
      refuses: ['alert_resolved'],
      params,
      body: z.object({ notes: longText.nullish() }).nullish(),
      response: alertView,
      handle: async ({ run, ask, params: { alertID: alertId }, body }) => {
        await run(acknowledgeAlert, { alertId, notes: body?.notes ?? null });
        return ask(getAlert, { alertId });
      },
    }),
    route({
      method: 'PUT',
      path: `${base}/{alertID}/resolve`,
      access: admin('alerts:write'),
      summary: 'Resolve an alert as a true or false positive',
      params,
      body: z.object({ status: z.enum(['resolved', 'false_positive']), resolution: longText.nullish() }),
      response: alertView,
      handle: async ({ run, ask, params: { alertID: alertId }, body }) => {
        await run(resolveAlert, { alertId, status: body.status, resolution: body.resolution ?? null });
        return ask(getAlert, { alertId });
      },
    }),
    route({
      method: 'PUT',
      path: `${base}/{alertID}/assign`,
      access: admin('alerts:write'),
      summary: 'Assign an alert to an admin',
      description: '`assigneeId` null removes the assignment.',
      params,
      body: z.object({ assigneeId: uuid().nullable() }),
      response: alertView,
      handle: async ({ run, ask, params: { alertID: alertId }, body }) => {
        await run(assignAlert, { alertId, assigneeId: body.assigneeId });
        return ask(getAlert, { alertId });
      },
    }),
    route({
      method: 'PUT',
      path: `${base}/{alertID}/claim`,
      access: admin('alerts:write'),
      summary: 'Claim an unassigned alert',
      refuses: ['alert_assigned'],
      description: '409 if the alert is assigned to another admin.',
      params,
      response: alertView,
      handle: async ({ run, ask, principal, params: { alertID: alertId } }) => {
        await run(claimAlert, { alertId, adminId: principal.adminId });
        return ask(getAlert, { alertId });
      },
    }),
    route({
      method: 'PUT',
      path: `${base}/{alertID}/reopen`,
      access: admin('alerts:write'),
      summary: 'Reopen an alert',
      refuses: ['alert_open'],
      description: '409 if the alert is already open.',
      params,
      body: z.object({ notes: longText.nullish() }).nullish(),
      response: alertView,
      handle: async ({ run, ask, params: { alertID: alertId }, body }) => {
        await run(reopenAlert, { alertId, notes: body?.notes ?? null });
        return ask(getAlert, { alertId });
      },
    }),
    route({
      method: 'PUT',
      path: `${base}/{alertID}/severity`,
      access: admin('alerts:write'),
      summary: 'Change the severity of an alert',
      params,
      body: z.object({ severity: severitySchema, reason: longText.nullish() }),
      response: alertView,
      handle: async ({ run, ask, params: { alertID: alertId }, body }) => {
        await run(changeAlertSeverity, { alertId, severity: body.severity, reason: body.reason ?? null });
        return ask(getAlert, { alertId });
      },
    }),
    route({
      method: 'PUT',
      path: `${base}/{alertID}/policy-action`,
      access: admin('alerts:write'),
      summary: 'Record the policy that resulted from an alert',
      refuses: ['alert_not_resolved'],
      description: '409 unless the alert is resolved as a true positive.',
      params,
      body: z
        .object({
          action: policyActionSchema,
          policyId: uuid().nullish(),
          policyName: nameField({ min: 0 }).nullish(),
        })
        .check(
          ruleBetween(['policyId', 'action'], ({ action, policyId = null }) =>
            policyId !== null || !namesPolicy(action) ? undefined : 'is required for this action',
          ),
        ),
      response: alertView,
      handle: async ({ run, ask, params: { alertID: alertId }, body }) => {
        await run(recordAlertPolicyAction, {
          alertId,
          action: body.action,
          policyId: body.policyId ?? null,
          policyName: body.policyName ?? null,
        });
        return ask(getAlert, { alertId });
      },
    }),
  ],
};
