import { auditLog } from '../../../projections/audit/audit-log.ts';
import { readModels } from '../../../projections/index.ts';
import { tenantReads } from '../../platform/database/tenant-reads.ts';
import { employeeEvents } from '../../contexts/employees/domain/events.ts';
import { families } from '../../contexts/families.ts';
import { AggregateLoader } from '../../platform/execution/aggregate-loader.ts';
import { FeedTail } from '../../platform/projector/feed-tail.ts';
import { Freshness } from '../../platform/projector/freshness.ts';
import { LiveState } from '../../platform/projector/live-state.ts';
import { Projector } from '../../platform/projector/projector.ts';
import type { Services } from './services.ts';
import type { Site } from './site.ts';
import type { Storage } from './storage.ts';

export type ReadSide = Pick<
  Services,
  'loader' | 'tail' | 'freshness' | 'projector' | 'live' | 'models' | 'mainModels' | 'reads' | 'vitalReads'
>;

/** What follows the feed, and what is asked of the tables that come of it. */
export async function openReadSide(
  { config, log, onStop }: Site,
  { store, codec, database, personKeys, trust, alone }: Storage,
): Promise<ReadSide> {
  const tail = await FeedTail.open(store, codec, log);
  onStop(() => tail.close());
  const freshness: Freshness = new Freshness({
    isNeeded: () => !projector.leads,
    readPositions: () => projector.livePositions(),
  });
  // The audit chain is the one model that needs a key.
  const models = [...readModels, auditLog(config.auditKey, families)];
  const projector = new Projector({
    pool: database.projector,
    store,
    codec,
    tail,
    models,
    freshness,
    trust,
    log,
    alone,
  });
  const loader = new AggregateLoader(store, codec);
  const live = new LiveState({ tail, freshness, aggregates: loader, log, trust });
  trust.onDoubt(() => {
    loader.forget();
    live.forget();
    freshness.forget();
  });
  live.heed(employeeEvents, 'EmployeeErased', ({ tenantId, data }) => personKeys.forget(tenantId, data.userId));
  const mainModels = models.filter(({ lane }) => lane === 'main').map(({ name }) => name);
  const { ordinary: reads, vital: vitalReads } = tenantReads(database.reads);
  return { loader, tail, freshness, projector, live, models, mainModels, reads, vitalReads };
}
