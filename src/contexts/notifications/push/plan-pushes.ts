import { z } from 'zod';
import { planNotification } from '../../../../commands/notifications/plan-notification.ts';
import type { CommandPorts } from '../../../../commands/ports.ts';
import { groupsOfPerson } from '../../../../queries/notifications/groups-of-person.ts';
import type { PushAudience } from '../../../../queries/notifications/push-audience.ts';
import type { Executor } from '../../../platform/execution/executor.ts';
import { declareJob, defineJob, JobFailed, type AnyJob } from '../../../platform/jobs/job.ts';
import { system } from '../../../platform/kernel/actor.ts';
import { orThrow } from '../../../platform/kernel/failure.ts';
import { asTenantId, uuid } from '../../../platform/kernel/ids.ts';
import type { JobRequest } from '../../../platform/kernel/job.ts';
import { severitySchema } from '../../alerts/domain/vocabulary.ts';
import { startPages } from '../../on-call/start-pages.ts';
import { alertAfter, type AlertHistory } from '../alert-document.ts';
import { inBatches } from '../domain/planned-notification.ts';
import { pushRules } from '../domain/push-rule.resource.ts';
import { selectPushes } from '../domain/push-selection.ts';
import type { LiveNotificationSettings } from '../live-settings.ts';
import type { CallingEvent } from './calling-event.ts';
import { tellOfGap } from './on-call-gap.ts';
import { readAudience, type AudiencePorts } from './read-audience.ts';

/** Decides who gets a push about an event of an alert. Runs at least once; the plan is made once. */
export const pushPlanning = declareJob({
  name: 'plan-pushes',
  data: z.object({
    tenantId: uuid(),
    alertId: uuid(),
    eventId: uuid(),
    change: z.enum(['created', 'updated']),
    occurredAt: z.iso.datetime(),
    /** Set if the event names it. */
    severity: severitySchema.optional(),
  }),
  attempts: 10,
  backoff: { firstMs: 1_000, longestMs: 300_000 },
});

export interface PushPlanningPorts extends AlertHistory, AudiencePorts {
  readonly executor: Pick<Executor<CommandPorts>, 'execute'>;
  readonly settings: Pick<LiveNotificationSettings, 'of'>;
}

/**
 * The job would find nothing to do: the tenant has no pushes, and gaps on call matter to critical alerts only. Most
 * tenants in an alert storm are spared a job for each alert.
 */
export async function isNeedlessPush(
  { job, data }: JobRequest,
  settings: Pick<LiveNotificationSettings, 'of'>,
): Promise<boolean> {
  if (job.name !== pushPlanning.name) return false;
  const { tenantId, severity } = data as z.input<typeof pushPlanning.data>;
  if (severity === undefined || severity === 'critical') return false;
  return !(await settings.of(asTenantId(tenantId))).values.pushEnabled;
}

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
  const { tenantId, alert } = event;
  const settings = await ports.settings.of(tenantId);
  if (!settings.values.pushEnabled && alert.severity !== 'critical') return;
  const moment = Date.parse(event.occurredAt);
  // Pushes are for those who were on call at the event, pages for those who are on call now.
  const audience = await readAudience(ports, tenantId, { from: moment, to: Math.max(moment, Date.now()) });
  if (alert.severity === 'critical') await tellOfGap(ports, event, audience);
  if (settings.values.pushEnabled) await planFor(ports, event, audience);
}

async function planFor(ports: PushPlanningPorts, event: CallingEvent, audience: PushAudience): Promise<void> {
  const { tenantId, eventId, change, occurredAt, alert } = event;
  const reads = ports.reads(tenantId);
  const rules = orThrow(await pushRules.all(reads, { isEnabled: true }));
  if (rules.length === 0) return;
  const groupIds = alert.userId === null ? [] : orThrow(await groupsOfPerson(reads, { userId: alert.userId }));
  const { severity, alertType, id: alertId } = alert;
  const selected = { severity, alertType, groupIds };
  const called = await startPages(ports, { tenantId, alertId, eventId, occurredAt, alert: selected }, audience, rules);
  const moment = Date.parse(occurredAt);
  const { sent } = selectPushes(rules, selected, audience.at(moment), moment);
  const recipients = sent
    .filter(({ adminId }) => !called.has(adminId))
    .flatMap(({ adminId, deviceIds }) => deviceIds.map((deviceId) => ({ kind: 'push' as const, deviceId, adminId })));
  const subject = { kind: 'alert' as const, alertId, eventId, change, severity, occurredAt };
  for (const plan of inBatches({ channel: 'push' as const, cause: eventId, subject, recipients }))
    orThrow(await ports.executor.execute(planNotification, plan, { tenantId, actor: system('push-planning') }));
}
