import { defineAggregate, streamName } from '../../../platform/kernel/aggregate.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import { notificationIdOf } from './delivery-ids.ts';
import { notificationEvents } from './events.ts';
import type { ChannelName } from './message.ts';

export const plannedNotification = defineAggregate<{ readonly isPlanned: boolean }, typeof notificationEvents>(
  notificationEvents,
  { isPlanned: false },
  () => ({ isPlanned: true }),
);

/** One stream for each cause and channel. */
export const notificationStream = (tenantId: TenantId, cause: string, channel: ChannelName): string =>
  streamName('notification', tenantId, notificationIdOf(tenantId, cause, channel));
