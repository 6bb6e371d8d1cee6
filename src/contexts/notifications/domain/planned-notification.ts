import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import { notificationIdOf } from './delivery-ids.ts';
import { MAX_RECIPIENTS, notificationEvents } from './events.ts';
import type { ChannelName, Recipient } from './message.ts';

export const plannedNotification = defineAggregate<{ readonly isPlanned: boolean }, typeof notificationEvents>(
  notificationEvents,
  { isPlanned: false },
  () => ({ isPlanned: true }),
);

/** One stream for each cause, channel and batch of recipients. */
export const notificationStream = (tenantId: TenantId, cause: string, channel: ChannelName, batch = 0): string =>
  streamName('notification', tenantId, notificationIdOf(tenantId, cause, channel, batch));

/** The same message for any number of recipients: one event holds `MAX_RECIPIENTS` of them. */
export const inBatches = <Plan extends { readonly recipients: readonly Recipient[] }>(
  plan: Plan,
): (Plan & { readonly batch: number })[] =>
  Array.from({ length: Math.ceil(plan.recipients.length / MAX_RECIPIENTS) }, (_, batch) => ({
    ...plan,
    recipients: plan.recipients.slice(batch * MAX_RECIPIENTS, (batch + 1) * MAX_RECIPIENTS),
    batch,
  }));
