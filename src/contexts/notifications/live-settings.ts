import type { AggregateReader } from '../../platform/kernel/aggregate.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import type { CatchUpSubscription } from '../../platform/projector/catch-up-subscription.ts';
import type { Freshness } from '../../platform/projector/freshness.ts';
import { CACHE_MODEL, type InvalidatingCache } from '../../platform/projector/invalidating-cache.ts';
import { notificationSettings, notificationSettingsStream, type NotificationSettings } from './domain/settings.ts';

export interface LiveSettingsPorts {
  readonly aggregates: AggregateReader;
  readonly cache: Pick<InvalidatingCache, 'cached'>;
  readonly freshness: Pick<Freshness, 'waitFor'>;
  readonly subscription: Pick<CatchUpSubscription, 'head'>;
}

/**
 * The notification settings of tenants, from memory: every alert asks for them several times. They are at least as new
 * as the newest event that this process knows, so an alert that was raised after a change finds the change.
 */
export class LiveNotificationSettings {
  readonly #ports: LiveSettingsPorts;
  readonly #cached: (tenantId: TenantId, id: string) => Promise<NotificationSettings>;

  constructor(ports: LiveSettingsPorts) {
    this.#ports = ports;
    this.#cached = ports.cache.cached(({ aggregates }, tenantId) => read(aggregates, tenantId));
  }

  async of(tenantId: TenantId): Promise<NotificationSettings> {
    const { aggregates, freshness, subscription } = this.#ports;
    // Otherwise this process cannot follow the log now: the log itself is asked.
    const isFollowed = await freshness.waitFor([CACHE_MODEL], subscription.head);
    return isFollowed ? this.#cached(tenantId, 'notification-settings') : read(aggregates, tenantId);
  }
}

const read = (aggregates: AggregateReader, tenantId: TenantId): Promise<NotificationSettings> =>
  aggregates.load(notificationSettings, notificationSettingsStream(tenantId));
