import { endWebhookReplay } from '../../../commands/notifications/end-webhook-replay.ts';
import { planDelivery } from '../../../commands/notifications/plan-delivery.ts';
import type { CommandPorts } from '../../../commands/ports.ts';
import { pageOfAlertEvents, type PastAlertEvent } from '../../../queries/notifications/alert-event-history.ts';
import { pendingOfReplay } from '../../../queries/notifications/pending-of-replay.ts';
import type { Executor } from '../../platform/execution/executor.ts';
import { defineJob, type AnyJob } from '../../platform/jobs/job.ts';
import type { Jobs } from '../../platform/jobs/jobs.ts';
import { system } from '../../platform/kernel/actor.ts';
import type { AggregateReader } from '../../platform/kernel/aggregate.ts';
import { orThrow } from '../../platform/kernel/failure.ts';
import { asTenantId, type TenantId } from '../../platform/kernel/ids.ts';
import type { TenantReads } from '../../platform/kernel/query.ts';
import { alertAfter, type AlertHistory } from './alert-document.ts';
import { deliveryIdOf } from './domain/delivery-ids.ts';
import { isWanted, notificationSettings, notificationSettingsStream } from './domain/settings.ts';
import { webhookReplay, webhookReplayStream, type WebhookReplay } from './domain/webhook-replay.ts';
import { webhookReplaying } from './jobs.ts';

export interface ReplayPorts extends AlertHistory {
  readonly executor: Pick<Executor<CommandPorts>, 'execute'>;
  readonly aggregates: AggregateReader;
  reads(tenantId: TenantId): TenantReads;
  jobs(): Pick<Jobs, 'enqueue'>;
}

const PAGE = 50;
/** A pause after each page: at most 50 messages a second. */
const PAUSE_MS = 1_000;
/** Messages of the replay that may wait for the receiver at a time. */
const MAX_PENDING = 200;
/** The wait of a replay whose receiver does not keep up. */
const LONG_PAUSE_MS = 5_000;
const RECIPIENT = { kind: 'webhook' } as const;

/** Plans the messages of a replay, one page for each job, no faster than the receiver accepts them. */
export const replayWebhooks = (ports: ReplayPorts): AnyJob =>
  defineJob({
    ...webhookReplaying,
    handle: async ({ tenantId: id, replayId, after, planned: before }) => {
      const tenantId = asTenantId(id);
      const { running } = await ports.aggregates.load(webhookReplay, webhookReplayStream(tenantId));
      if (running?.replayId !== replayId) return;
      const reads = ports.reads(tenantId);
      const again = (position: string, planned: number, delayMs: number) =>
        ports
          .jobs()
          .enqueue(
            webhookReplaying,
            { tenantId, replayId, after: position, planned },
            { id: `${replayId}/${position}/${Date.now()}`, delayMs, tenantId },
          );
      const pending = orThrow(await pendingOfReplay(reads, { replayId }));
      if (pending >= MAX_PENDING) return again(after, before, LONG_PAUSE_MS);
      const page = orThrow(await pageOfAlertEvents(reads, { ...running, after, size: PAGE }));
      let planned = before;
      for (const event of page) planned += await planFor(ports, tenantId, running, event);
      const last = page.at(-1);
      if (last && page.length === PAGE) return again(last.position, planned, PAUSE_MS);
      const execution = { tenantId, actor: system('webhook-replay') };
      orThrow(await ports.executor.execute(endWebhookReplay, { replayId, planned }, execution));
    },
  });

/** Plans the message about one event, if the settings want it. Returns how many it planned. */
async function planFor(
  ports: ReplayPorts,
  tenantId: TenantId,
  { replayId }: WebhookReplay,
  { eventId, alertId, change, occurredAt }: PastAlertEvent,
): Promise<number> {
  const alert = await alertAfter(ports, tenantId, { alertId, eventId });
  const { values } = await ports.aggregates.load(notificationSettings, notificationSettingsStream(tenantId));
  if (!alert || !isWanted(values, alert.alertType, alert.severity)) return 0;
  const subject = { kind: 'alert', alertId, eventId, change, severity: alert.severity, occurredAt } as const;
  const plan = {
    deliveryId: deliveryIdOf(tenantId, `${replayId}|${eventId}`, RECIPIENT),
    messageId: deliveryIdOf(tenantId, eventId, RECIPIENT),
    replayId,
    channel: 'webhook',
    recipient: RECIPIENT,
    subject,
  } as const;
  orThrow(await ports.executor.execute(planDelivery, plan, { tenantId, actor: system('webhook-replay') }));
  return 1;
}
