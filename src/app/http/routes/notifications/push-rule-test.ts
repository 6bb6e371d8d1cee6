import { z } from 'zod';
import {
  MAX_TESTED_ALERTS,
  pushRuleTest,
  pushRuleTestView,
  TESTED_DAYS,
} from '../../../../../queries/notifications/push-rule-test.ts';
import { pushRuleFilters, pushRules } from '../../../../contexts/notifications/domain/push-rule.resource.ts';
import type { ShiftCalendars } from '../../../../contexts/on-call/domain/shift-calendars.ts';
import { mobileAccess, mobileAccessStream } from '../../../../contexts/settings/domain/mobile-access.ts';
import type { AggregateReader } from '../../../../platform/kernel/aggregate.ts';
import { FailureError, notFoundIn } from '../../../../platform/kernel/failure.ts';
import { uuid, type TenantId } from '../../../../platform/kernel/ids.ts';
import { admin } from '../../access.ts';
import { routeWith, type RouteGroup } from '../../route.ts';
import { ruleBetween } from '../../../../platform/kernel/rule-between.ts';

export interface PushRuleTestRouteDependencies {
  readonly loader: AggregateReader;
  readonly shiftCalendars: ShiftCalendars;
}

const route = routeWith<PushRuleTestRouteDependencies>();

const draft = z.object({
  severities: pushRuleFilters.severities.default([]),
  alertTypes: pushRuleFilters.alertTypes.default([]),
  groupIds: pushRuleFilters.groupIds.default([]),
  scheduleId: pushRuleFilters.scheduleId.default(null),
});

/** Throws a 404 that names the field. */
async function requireRule(aggregates: AggregateReader, tenantId: TenantId, id: string): Promise<void> {
  const { exists } = await aggregates.load(pushRules.aggregate, pushRules.stream(tenantId, id));
  if (!exists) throw new FailureError(notFoundIn('ruleId', 'a push rule'));
}

/** What a push rule would have done: before it is saved, and afterwards. */
export const pushRuleTestRoutes: RouteGroup<PushRuleTestRouteDependencies> = {
  area: 'alert-notifications',
  routes: [
    route({
      method: 'POST',
      path: '/api/v1/admin/alert-notifications/push-rules/test',
      access: admin('notifications:write'),
      summary: 'Test a push rule with the alerts of the last days',
      description: `Takes the id of a rule, or a rule that is not saved. Returns the alerts of the last ${TESTED_DAYS} days that it selects (the newest ${MAX_TESTED_ALERTS}), each with the people who would have got a push, and those on call who would not, with a reason. Who was on call counts as it was; accounts, preferences, devices and groups count as they are now. Sends nothing, and does not look whether the rule is enabled.`,
      refuses: ['not_found'],
      body: z
        .object({ ruleId: uuid().optional(), rule: draft.optional() })
        .check(
          ruleBetween(['rule', 'ruleId'], ({ ruleId, rule }) =>
            (ruleId === undefined) !== (rule === undefined) ? undefined : 'give either rule or ruleId',
          ),
        ),
      response: pushRuleTestView,
      handle: async ({ ask, services, principal: { tenantId }, body: { ruleId, rule } }) => {
        if (ruleId !== undefined) await requireRule(services.loader, tenantId, ruleId);
        const filters = rule ?? (await ask(pushRules.get, { id: ruleId! }));
        const byRole = await services.loader.load(mobileAccess, mobileAccessStream(tenantId));
        return ask(pushRuleTest, { filters, now: Date.now(), calendars: services.shiftCalendars, byRole });
      },
    }),
  ],
};
