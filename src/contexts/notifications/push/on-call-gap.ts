import { v5 } from 'uuid';
import { raiseAlert } from '../../../../commands/alerts/raise-alert.ts';
import type { CommandPorts } from '../../../../commands/ports.ts';
import { planNotification } from '../../../../commands/notifications/plan-notification.ts';
import type { PushAudience } from '../../../../queries/notifications/push-audience.ts';
import type { Executor } from '../../../platform/execution/executor.ts';
import { system } from '../../../platform/kernel/actor.ts';
import { orThrow } from '../../../platform/kernel/failure.ts';
import { inBatches } from '../domain/planned-notification.ts';
import type { CallingEvent } from './calling-event.ts';

/** UUIDv5 namespaces (RFC 9562 §5.5): one notice for each event, one alert for each gap. */
const NOTICES = '2f0c4a8e-7b1d-4c55-8e0a-6c2d9f31b740';
const GAPS = 'c3b0d7f4-9a26-4e18-b5d3-1f7e8a60429c';

/**
 * Nobody is on call for a critical alert, although the tenant has schedules: tells all super admins by e-mail, and
 * raises one alert for the gap. That alert is not critical, so it causes no further one.
 */
export async function tellOfGap(
  { executor }: { readonly executor: Pick<Executor<CommandPorts>, 'execute'> },
  { tenantId, eventId, occurredAt, alert }: CallingEvent,
  audience: PushAudience,
): Promise<void> {
  const moment = Date.parse(occurredAt);
  const gapSince = audience.gapSince(moment);
  if (gapSince === undefined) return;
  const execution = { tenantId, actor: system('push-planning') };
  const addresses = audience
    .at(moment)
    .filter(({ role, isActive }) => role === 'super_admin' && isActive)
    .map(({ email }) => email);
  const notice = {
    channel: 'email' as const,
    cause: v5(eventId, NOTICES),
    subject: { kind: 'notice' as const, notice: 'nobody_on_call' as const, alertId: alert.id, eventId, occurredAt },
    recipients: addresses.map((address) => ({ kind: 'email' as const, address })),
  };
  for (const plan of inBatches(notice)) orThrow(await executor.execute(planNotification, plan, execution));
  const alertId = v5(`${tenantId}|${gapSince}`, GAPS);
  const gap = {
    alertId,
    alertType: 'policy_violation' as const,
    severity: 'high' as const,
    title: 'Nobody is on call',
    description:
      'A critical alert was raised, and no schedule had anybody on call who can be reached. All super admins were told by e-mail. Close the gap: GET /api/v1/admin/on-call/coverage lists it.',
    fingerprint: `policy_violation|||nobody_on_call|${gapSince}`,
    userId: null,
    deviceId: null,
    domain: null,
    url: null,
    cause: eventId,
    metadata: { kind: 'nobody_on_call', alertId: alert.id, observedAt: occurredAt, observationIds: [] },
  };
  orThrow(await executor.execute(raiseAlert, gap, execution));
}
