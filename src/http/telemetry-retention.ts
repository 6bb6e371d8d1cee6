import { retentionUnder } from '../domain/settings/retention.ts';
import type { EventStore } from '../eventstore/port.ts';
import type { TenantId } from '../kernel/ids.ts';
import type { Config } from '../config.ts';
import type { Lookups } from '../identity/lookups.ts';

export interface TelemetryRetentionDependencies {
  readonly config: Pick<Config, 'eventRetentionDays' | 'streamRetentionDays'>;
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

/** Streams whose retention this process has set. A process that died before it could leaves that to the next report. */
const retained = new WeakMap<EventStore, Set<string>>();
const MOST_REMEMBERED = 100_000;

/** Nothing that was set so far is believed any more: the log may be another one. */
export const forgetRetention = (store: EventStore): boolean => retained.delete(store);

/** Lets a device-day leave the log in time; asks the store once for each. */
export async function ensureRetention(store: EventStore, stream: string, maxAgeDays: number): Promise<void> {
  let known = retained.get(store);
  if (!known) retained.set(store, (known = new Set()));
  if (known.has(stream)) return;
  await store.setRetention(stream, maxAgeDays);
  if (known.size >= MOST_REMEMBERED) known.clear();
  known.add(stream);
}
