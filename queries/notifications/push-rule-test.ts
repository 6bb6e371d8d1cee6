import { z } from 'zod';
import type { AlertRow } from '../../projections/alerts/alerts.ts';
import { alertTypeSchema, severitySchema } from '../../src/contexts/alerts/domain/vocabulary.ts';
import {
  selectPushes,
  withheldReasons,
  type PushFilters,
} from '../../src/contexts/notifications/domain/push-selection.ts';
import type { ShiftCalendars } from '../../src/contexts/on-call/domain/shift-calendars.ts';
import type { MobileAccess } from '../../src/contexts/settings/domain/mobile-access.ts';
import type { Query } from '../../src/platform/kernel/query.ts';
import { pushAudience, type NamedPerson } from './push-audience.ts';

export const TESTED_DAYS = 7;
/** Alerts in a response; `total` counts all that the rule selects. */
export const MAX_TESTED_ALERTS = 100;
const DAY_MS = 86_400_000;

const person = { adminUserId: z.uuid(), email: z.string(), displayName: z.string() };

export const pushRuleTestView = z.object({
  /** Alerts that the rule selects. */
  total: z.int(),
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  /** The newest ones. */
  alerts: z.array(
    z.object({
      alertId: z.uuid(),
      alertType: alertTypeSchema,
      severity: severitySchema,
      createdAt: z.iso.datetime(),
      recipients: z.array(z.object({ ...person, devices: z.int() })),
      withheld: z.array(z.object({ ...person, reason: z.enum(withheldReasons) })),
    }),
  ),
});
type PushRuleTest = z.output<typeof pushRuleTestView>;

export interface AskPushRuleTest {
  readonly filters: PushFilters;
  /** Epoch milliseconds. */
  readonly now: number;
  readonly calendars: ShiftCalendars;
  readonly byRole: MobileAccess;
}

type TestedAlert = Pick<AlertRow, 'alert_id' | 'alert_type' | 'severity' | 'created_at'> & {
  readonly group_ids: readonly string[];
  readonly total: number;
};

const GROUPS = `
  array(select m.group_id from group_members m
         where m.tenant_id = a.tenant_id and m.user_id = a.user_id)::text[]`;
const ALERTS = `
  select a.alert_id, a.alert_type, a.severity, a.created_at, ${GROUPS} as group_ids, count(*) over ()::int as total
    from alerts a
   where a.tenant_id = $1 and a.created_at >= $2 and a.created_at <= $3
     and (cardinality($4::text[]) = 0 or a.severity = any($4))
     and (cardinality($5::text[]) = 0 or a.alert_type = any($5))
     and (cardinality($6::uuid[]) = 0 or exists (
           select from group_members m
            where m.tenant_id = a.tenant_id and m.user_id = a.user_id and m.group_id = any($6)))
   order by a.created_at desc, a.alert_id
   limit ${MAX_TESTED_ALERTS}`;

/**
 * Which alerts of the last days a rule selects, and whom it would have sent a push. Alerts, groups, accounts,
 * preferences and devices count as they are now; who was on call counts as it was.
 */
export const pushRuleTest: Query<AskPushRuleTest, PushRuleTest> = async (
  reads,
  { filters, now, calendars, byRole },
) => {
  const from = now - TESTED_DAYS * DAY_MS;
  const interval = { from: new Date(from).toISOString(), to: new Date(now).toISOString() };
  const [alerts, audience] = await Promise.all([
    reads.rows<TestedAlert>(ALERTS, [
      interval.from,
      interval.to,
      filters.severities,
      filters.alertTypes,
      filters.groupIds,
    ]),
    pushAudience(reads, { from, to: now, calendars, byRole }),
  ]);
  const tested = alerts.map((row) => {
    const alert = { severity: row.severity, alertType: row.alert_type, groupIds: row.group_ids };
    const moment = Date.parse(row.created_at);
    const { sent, withheld } = selectPushes([filters], alert, audience.at(moment), moment);
    return {
      alertId: row.alert_id,
      alertType: row.alert_type,
      severity: row.severity,
      createdAt: row.created_at,
      recipients: sent.map((one) => ({ ...shown(one), devices: one.deviceIds.length })),
      withheld: withheld.map((one) => ({ ...shown(one.person), reason: one.reason })),
    };
  });
  return { total: alerts[0]?.total ?? 0, ...interval, alerts: tested };
};

const shown = ({ adminId, email, displayName }: NamedPerson) => ({ adminUserId: adminId, email, displayName });
