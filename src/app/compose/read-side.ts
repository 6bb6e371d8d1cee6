import { auditLog } from '../../../projections/audit/audit-log.ts';
import { readModels } from '../../../projections/index.ts';
import { requireWholeTables } from '../../platform/projector/whole-tables.ts';
import { tenantReads } from '../../platform/database/tenant-reads.ts';
import { employeeEvents } from '../../contexts/employees/domain/events.ts';
import { families } from '../../contexts/families.ts';
import { reactions } from '../../contexts/reactions.ts';
import { LiveNotificationSettings } from '../../contexts/notifications/live-settings.ts';
import { AggregateLoader } from '../../platform/execution/aggregate-loader.ts';
import { CatchUpSubscription } from '../../platform/projector/catch-up-subscription.ts';
import { Freshness } from '../../platform/projector/freshness.ts';
import { InvalidatingCache } from '../../platform/projector/invalidating-cache.ts';
import { Projector } from '../../platform/projector/projector.ts';
import type { ServiceContainer } from './service-container.ts';
import type { CompositionContext } from './composition-context.ts';
import type { Storage } from './storage.ts';

export type ReadSide = Pick<
  ServiceContainer,
  | 'loader'
  | 'subscription'
  | 'freshness'
  | 'projector'
  | 'cache'
  | 'models'
  | 'mainModels'
  | 'reads'
  | 'vitalReads'
  | 'notificationSettings'
>;

/** The subscription to the event log, the projector, and queries of the read models. */
export async function openReadSide(
  { config, log, onStop }: CompositionContext,
  { store, codec, database, personKeys, trust, alone }: Storage,
): Promise<ReadSide> {
  const subscription = await CatchUpSubscription.open(store, codec, log);
  onStop(() => subscription.close());
  const freshness: Freshness = new Freshness({
    isNeeded: () => !projector.leads,
    readPositions: () => projector.livePositions(),
  });
  // The audit chain is the only model that needs a key.
  const models = [...readModels, auditLog(config.auditKey, families)];
  await requireWholeTables(database.owner, models, reactions);
  const projector = new Projector({
    pool: database.projector,
    store,
    codec,
    subscription,
    models,
    freshness,
    trust,
    log,
    alone,
  });
  const loader = new AggregateLoader(store, codec);
  const cache = new InvalidatingCache({ subscription, freshness, aggregates: loader, log, trust });
  trust.onDoubt(() => {
    loader.forget();
    cache.forget();
    freshness.forget();
  });
  cache.onEvent(employeeEvents, 'EmployeeErased', ({ tenantId, data }) => personKeys.forget(tenantId, data.userId));
  const mainModels = models.filter(({ lane }) => lane === 'main').map(({ name }) => name);
  const { ordinary: reads, vital: vitalReads } = tenantReads(database.reads);
  const notificationSettings = new LiveNotificationSettings({ aggregates: loader, cache, freshness, subscription });
  return {
    loader,
    subscription,
    freshness,
    projector,
    cache,
    models,
    mainModels,
    reads,
    vitalReads,
    notificationSettings,
  };
}
