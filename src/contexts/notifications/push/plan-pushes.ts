import { z } from 'zod';
import { planNotification } from '../../../../commands/notifications/plan-notification.ts';
import type { CommandPorts } from '../../../../commands/ports.ts';
import { groupsOfPerson } from '../../../../queries/notifications/groups-of-person.ts';
import { pushAudience, type PushAudience } from '../../../../queries/notifications/push-audience.ts';
import type { Executor } from '../../../platform/execution/executor.ts';
import { declareJob, defineJob, JobFailed, type AnyJob } from '../../../platform/jobs/job.ts';
import { system } from '../../../platform/kernel/actor.ts';
import type { AggregateReader } from '../../../platform/kernel/aggregate.ts';
import type { Position } from '../../../platform/kernel/event.ts';
import { orThrow } from '../../../platform/kernel/failure.ts';
import { asTenantId, uuid, type TenantId } from '../../../platform/kernel/ids.ts';
import type { TenantReads } from '../../../platform/kernel/query.ts';
import type { Freshness } from '../../../platform/projector/freshness.ts';
import type { ShiftCalendars } from '../../on-call/domain/shift-calendars.ts';
import { mobileAccess, mobileAccessStream } from '../../settings/domain/mobile-access.ts';
import { alertAfter, type AlertHistory } from '../alert-document.ts';
import { MAX_RECIPIENTS } from '../domain/events.ts';
import { pushRules } from '../domain/push-rule.resource.ts';
import { selectPushes } from '../domain/push-selection.ts';
import { notificationSettings, notificationSettingsStream } from '../domain/settings.ts';
import type { CallingEvent } from './calling-event.ts';
import { tellOfGap } from './on-call-gap.ts';

/** Decides who gets a push about an event of an alert. Runs at least once; the plan is made once. */
export const pushPlanning = declareJob({
  name: 'plan-pushes',
  data: z.object({
    tenantId: uuid(),
    alertId: uuid(),
    eventId: uuid(),
    change: z.enum(['created', 'updated']),
    occurredAt: z.iso.datetime(),
  }),
  attempts: 10,
  backoff: { firstMs: 1_000, longestMs: 300_000 },
});

export interface PushPlanningPorts extends AlertHistory {
  readonly executor: Pick<Executor<CommandPorts>, 'execute'>;
  readonly aggregates: AggregateReader;
  readonly freshness: Pick<Freshness, 'waitFor'>;
  readonly calendars: ShiftCalendars;
  reads(tenantId: TenantId): TenantReads;
  head(): Promise<Position>;
}

const MODELS = [
  'admin_availability',
  'admin_users',
  'group_members',
  'mobile_devices',
  'mobile_preferences',
  'on_call_overrides',
  'on_call_schedules',
  'on_call_versions',
  pushRules.model.name,
] as const;
const FRESH_WITHIN_MS = 15_000;

export const planPushesJob = (ports: PushPlanningPorts): AnyJob =>
  defineJob({
    ...pushPlanning,
    handle: async ({ tenantId: id, alertId, eventId, change, occurredAt }) => {
      const tenantId = asTenantId(id);
      try {
        const alert = await alertAfter(ports, tenantId, { alertId, eventId });
        if (alert) await planPushes(ports, { tenantId, eventId, change, occurredAt, alert });
      } catch (error) {
        throw error instanceof JobFailed ? error : new JobFailed('pushes were not planned', { cause: error });
      }
    },
  });

async function planPushes(ports: PushPlanningPorts, event: CallingEvent): Promise<void> {
  const { aggregates, freshness, calendars, head } = ports;
  const { tenantId, alert } = event;
  const settings = await aggregates.load(notificationSettings, notificationSettingsStream(tenantId));
  if (!settings.values.pushEnabled && alert.severity !== 'critical') return;
  // Schedules, devices and rules are listed by read models, which must not be behind the alert.
  if (!(await freshness.waitFor(MODELS, await head(), FRESH_WITHIN_MS)))
    throw new JobFailed('the read models are behind');
  const byRole = await aggregates.load(mobileAccess, mobileAccessStream(tenantId));
  const moment = Date.parse(event.occurredAt);
  const audience = await pushAudience(ports.reads(tenantId), { from: moment, to: moment, calendars, byRole });
  if (alert.severity === 'critical') await tellOfGap(ports, event, audience);
  if (settings.values.pushEnabled) await planFor(ports, event, audience);
}

async function planFor(ports: PushPlanningPorts, event: CallingEvent, audience: PushAudience): Promise<void> {
  const { tenantId, eventId, change, occurredAt, alert } = event;
  const reads = ports.reads(tenantId);
  const rules = orThrow(await pushRules.all(reads, { isEnabled: true }));
  if (rules.length === 0) return;
  const groupIds = alert.userId === null ? [] : orThrow(await groupsOfPerson(reads, { userId: alert.userId }));
  const { severity, alertType } = alert;
  const moment = Date.parse(occurredAt);
  const { sent } = selectPushes(rules, { severity, alertType, groupIds }, audience.at(moment), moment);
  const recipients = sent.flatMap(({ adminId, deviceIds }) =>
    deviceIds.map((deviceId) => ({ kind: 'push' as const, deviceId, adminId })),
  );
  const subject = { kind: 'alert' as const, alertId: alert.id, eventId, change, severity, occurredAt };
  const plan = { channel: 'push' as const, cause: eventId, subject, recipients: recipients.slice(0, MAX_RECIPIENTS) };
  orThrow(await ports.executor.execute(planNotification, plan, { tenantId, actor: system('push-planning') }));
}
