import { LRUCache } from 'lru-cache';
import { retentionUnder } from '../settings/domain/retention.ts';
import type { EventStore } from '../../platform/eventstore/port.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import type { Lookups } from '../identity/lookups.ts';

export interface TelemetryRetentionDependencies {
  readonly config: { readonly eventRetentionDays: number; readonly streamRetentionDays: number };
  readonly lookups: Lookups;
}

/** Retention of telemetry in days: the operator's settings, limited by the tenant's license. */
export async function retentionOf(
  { lookups, config }: TelemetryRetentionDependencies,
  tenantId: TenantId,
): Promise<{ eventRetentionDays: number; streamRetentionDays: number }> {
  const tenant = await lookups.tenant(tenantId, tenantId);
  return tenant?.license ? retentionUnder(tenant.license, config) : config;
}

const MAX_CACHED = 100_000;
/** Bounded by `maxSize`: `max` would allocate room for all of them at once. */
const noStreams = () => new LRUCache<string, true>({ maxSize: MAX_CACHED, sizeCalculation: () => 1 });

/** Sets the retention of device-day streams, once per stream and process. */
export class StreamRetention {
  readonly #store: Pick<EventStore, 'setRetention'>;
  /**
   * Streams whose retention this process has set. After a crash the next report sets it.
   */
  #known = noStreams();

  constructor(store: Pick<EventStore, 'setRetention'>) {
    this.#store = store;
  }

  async ensure(stream: string, maxAgeDays: number): Promise<void> {
    const known = this.#known;
    if (known.get(stream)) return;
    await this.#store.setRetention(stream, maxAgeDays);
    known.set(stream, true);
  }

  /** Drops the cache, also for calls in progress: the log may be another one. */
  forget(): void {
    this.#known = noStreams();
  }
}
