import { LRUCache } from 'lru-cache';
import { retentionUnder } from '../settings/domain/retention.ts';
import type { EventStore } from '../../platform/eventstore/port.ts';
import type { TenantId } from '../../platform/kernel/ids.ts';
import type { Lookups } from '../identity/lookups.ts';

export interface TelemetryRetentionDependencies {
  readonly config: { readonly eventRetentionDays: number; readonly streamRetentionDays: number };
  readonly lookups: Lookups;
}

/** Days for which telemetry is kept: what the operator set, as far as the tenant's license allows. */
export async function retentionOf(
  { lookups, config }: TelemetryRetentionDependencies,
  tenantId: TenantId,
): Promise<{ eventRetentionDays: number; streamRetentionDays: number }> {
  const tenant = await lookups.tenant(tenantId, tenantId);
  return tenant?.license ? retentionUnder(tenant.license, config) : config;
}

const MAX_REMEMBERED = 100_000;

/** Lets device-days leave the log in time: asks the store once for each. */
export class StreamRetention {
  readonly #store: Pick<EventStore, 'setRetention'>;
  /** Streams whose retention this process has set. A process that died before it could leaves that to the next report. */
  readonly #known = new LRUCache<string, true>({ max: MAX_REMEMBERED });

  constructor(store: Pick<EventStore, 'setRetention'>) {
    this.#store = store;
  }

  async ensure(stream: string, maxAgeDays: number): Promise<void> {
    if (this.#known.get(stream)) return;
    await this.#store.setRetention(stream, maxAgeDays);
    this.#known.set(stream, true);
  }

  /** Nothing that was set so far is believed any more: the log may be another one. */
  forget(): void {
    this.#known.clear();
  }
}
